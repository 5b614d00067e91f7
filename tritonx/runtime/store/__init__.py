"""Behind the cache: its entries on disk, which files are trusted, and a server that machines share."""
