"""Connectors for files of other stores: what `LocalFile` does, at paths of HDFS, object stores and file servers."""
