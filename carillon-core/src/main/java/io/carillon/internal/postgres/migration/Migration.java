package io.carillon.internal.postgres.migration;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One numbered SQL file. Its header says which code may still run on a schema that has it, and whether it runs outside
 * a transaction. Outside a transaction each statement commits separately and holds its locks no longer than that;
 * files that change tables in use run this way. Such a file may run again after a failure, so it drops what it is
 * about to build.
 */
record Migration(int number, String name, String sql, int minCode, boolean transactional) {
    // carillon.clock() exists at this point: the first file creates it.
    private static final String INSERT_ENTRY = """
            INSERT INTO carillon.migration (number, name, checksum, min_code, applied_at)\
             VALUES (%d, '%s', '%s', %d, carillon.clock());
            """;

    private static final Pattern FILE = Pattern.compile("(\\d{4})_([a-z0-9_]+)\\.sql");
    private static final Pattern MIN_CODE = Pattern.compile("\\A-- min_code: (\\d{1,4})\n");
    private static final Pattern NO_TRANSACTION = Pattern.compile("\\A-- min_code: \\d+\n-- transaction: off\n");

    Migration {
        if (number < 1 || minCode < 1 || minCode > number) {
            throw new IllegalArgumentException(
                    "min_code of migration %d must be between 1 and %d (was %d)".formatted(number, number, minCode));
        }
    }

    /** Parses a file; its name contains the number, its first lines are the header. */
    static Migration parse(String file, String content) {
        // The line endings of a checkout on another system must not change the checksum.
        String sql = content.replace("\r\n", "\n");
        Matcher named = FILE.matcher(file);
        Matcher header = MIN_CODE.matcher(sql);
        if (!named.matches()) {
            throw new IllegalArgumentException("Migration file '%s' must be named NNNN_name.sql".formatted(file));
        }
        if (!header.find()) {
            throw new IllegalArgumentException(
                    "Migration file '%s' must begin with the line '-- min_code: N'".formatted(file));
        }
        return new Migration(
                Integer.parseInt(named.group(1)),
                named.group(2),
                sql,
                Integer.parseInt(header.group(1)),
                !NO_TRANSACTION.matcher(sql).find());
    }

    /** Returns the file name. */
    String file() {
        return "%04d_%s.sql".formatted(number, name);
    }

    /** Returns the SHA-256 of the SQL, in hexadecimal. */
    String checksum() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(sql.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("SHA-256 is missing in this JVM", e);
        }
    }

    /** Returns the statement that records it in carillon.migration. */
    String insertStatement() {
        return INSERT_ENTRY.formatted(number, name, checksum(), minCode);
    }
}
