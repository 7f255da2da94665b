pytest_plugins = ["connectors.interface.testing.spark_session"]
