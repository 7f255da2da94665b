"""What Spark and Java fail with, by where it comes from: each turns an error into one for users."""
