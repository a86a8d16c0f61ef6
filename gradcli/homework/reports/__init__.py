"""Reports about results: grade books, item statistics, other systems' formats."""
