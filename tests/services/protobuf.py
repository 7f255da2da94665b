"""A schema of Protobuf with each kind of field, and its messages as the package protobuf reads and writes them."""

from typing import Any

ORDERS = """
syntax = "proto3";
package shop;
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

enum Color { NONE = 0; RED = 1; }
message Line { string sku = 1; uint32 count = 2; }
message Order {
  sint64 id = 1;
  optional string note = 2;
  repeated Line lines = 3;
  map<string, Line> by_sku = 4;
  Color color = 5;
  repeated Color colors = 6;
  map<int32, int32> counts = 7;
  double price = 8;
  bool paid = 9;
  bytes code = 10;
  fixed64 total = 11;
  float weight = 12;
  google.protobuf.Timestamp at = 13;
  google.protobuf.Duration took = 14;
  google.protobuf.Int32Value points = 15;
  Line first = 16;
}
"""


def message_class(text: str, name: str) -> Any:
    """The class of a message of the text of a `.proto` file, compiled by protoc."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message_factory import GetMessages

    from connectors.records.protobuf.descriptors import files_of_text

    return GetMessages(FileDescriptorSet.FromString(files_of_text(text)).file)[name]
