"""What people read: traces, pages, tables, exit codes; and assertions about scenarios for the tests of any project."""
