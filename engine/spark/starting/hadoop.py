"""`tuning.hadoop`: makes Hadoop cheaper for runs that write many small tables, in an application on this machine."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JError

from connectors.shared.java_names import java_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_YARN: Final = "yarn."

_LOCAL_FILES: Final = """
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class PenstockLocalFiles extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission permission) throws IOException {
        java.nio.file.Path file = pathToFile(path).toPath();
        String current = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        if (!current.equals(permission.toString())) {
            super.setPermission(path, permission);
        }
    }
}
"""
"""Hadoop's local files, without a `chmod` process for a file or directory that already has the permissions."""


def reduce_overhead(spark: "SparkSession") -> None:
    """Reduce what Hadoop adds to each table: settings that are copied to each task, and a process for each file.

    Does nothing on a cluster. It takes a third of a second, and saves a fifth of the CPU time of each small table.
    """
    if not str(spark.sparkContext.master).startswith("local"):
        return
    jvm: Any = spark.sparkContext._jvm
    java_named(jvm, "org.apache.hadoop.mapreduce.util.ConfigUtil.loadResources")()  # else the first write would
    _remove_yarn(spark)
    with suppress(Py4JError):  # a Hadoop of the user's own may lack these internals: the run is only slower
        _forget_sources(spark)
        if os.name == "posix":
            _use_own_local_files(spark)


def _remove_yarn(spark: "SparkSession") -> None:
    """Remove the settings of YARN, half of Hadoop's: each read, each write and each task gets a copy of all of them.

    With Kerberos they stay: Hadoop asks for YARN's principal when it fetches tokens for HDFS.
    """
    jvm: Any = spark.sparkContext._jvm
    if java_named(jvm, "org.apache.hadoop.security.UserGroupInformation.isSecurityEnabled")():
        return
    settings: Any = spark.sparkContext._jsc.hadoopConfiguration()
    names = java_named(jvm, "java.lang.String.join")(" ", settings.getPropsWithPrefix(_YARN).keySet())
    for name in names.split():
        settings.unset(_YARN + name)


def _forget_sources(spark: "SparkSession") -> None:
    """Forget which file each setting comes from, which Hadoop compresses one by one for each task. No value changes."""
    settings: Any = spark.sparkContext._jsc.hadoopConfiguration()
    field = settings.getClass().getDeclaredField("updatingResource")
    field.setAccessible(True)
    field.get(settings).clear()


def _use_own_local_files(spark: "SparkSession") -> None:
    """Have this Java process use `_LOCAL_FILES`, unless Hadoop sets permissions by its native library, or the user
    chose the file system."""
    jvm, new_array = spark.sparkContext._jvm, spark.sparkContext._gateway.new_array  # type: ignore[union-attr]
    settings: Any = spark.sparkContext._jsc.hadoopConfiguration()
    if java_named(jvm, "org.apache.hadoop.io.nativeio.NativeIO.isAvailable")() or settings.get("fs.file.impl"):
        return
    compiler = java_named(jvm, "org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(java_named(jvm, "java.lang.Thread.currentThread")().getContextClassLoader())
    compiler.cook(_LOCAL_FILES)
    of_class, of_object = java_named(jvm, "java.lang.Class"), java_named(jvm, "java.lang.Object")
    made = compiler.getClassLoader().loadClass("PenstockLocalFiles")
    raw = made.getDeclaredConstructor(new_array(of_class, 0)).newInstance(new_array(of_object, 0))
    system = java_named(jvm, "org.apache.hadoop.fs.LocalFileSystem")(raw)
    uri = java_named(jvm, "java.net.URI.create")("file:///")
    system.initialize(uri, settings)
    types, values = new_array(of_class, 3), new_array(of_object, 3)
    base = of_class.forName("org.apache.hadoop.fs.FileSystem")
    for index, (kind, value) in enumerate(((uri.getClass(), uri), (settings.getClass(), settings), (base, system))):
        types[index], values[index] = kind, value
    register = base.getDeclaredMethod("addFileSystemForTesting", types)  # the cache's only way in
    register.setAccessible(True)
    register.invoke(None, values)
