package io.carillon.postgres.migration;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One numbered SQL file. Its header says which code may still run on a schema that has it, and whether it runs outside a transaction: then each statement
 * commits by itself, and holds its locks no longer. Files that change tables which are in use do; such a file may be run again after it broke off, so it
 * drops what it is about to build.
 */
record Migration(int number, String name, String sql, int minCode, boolean transactional) {
    // carillon.clock() is there by now: the first file makes it.
    private static final String ENTRY = """
            INSERT INTO carillon.migration (number, name, checksum, min_code, applied_at) VALUES (%d, '%s', '%s', %d, carillon.clock());
            """;

    private static final Pattern FILE = Pattern.compile("(\\d{4})_([a-z0-9_]+)\\.sql");
    private static final Pattern MIN_CODE = Pattern.compile("\\A-- min_code: (\\d{1,4})\n");
    private static final Pattern NO_TRANSACTION = Pattern.compile("\\A-- min_code: \\d+\n-- transaction: off\n");

    Migration {
        if (number < 1 || minCode < 1 || minCode > number) {
            throw new IllegalArgumentException(
                    "migration %d: min_code %d is outside 1..%d".formatted(number, minCode, number));
        }
    }

    /** Reads a file; the name carries the number, the first lines the header. */
    static Migration parse(String file, String content) {
        // Line ends as a checkout on another system made them must not change the checksum.
        String sql = content.replace("\r\n", "\n");
        Matcher named = FILE.matcher(file);
        Matcher header = MIN_CODE.matcher(sql);
        if (!named.matches()) {
            throw new IllegalArgumentException("Migration file '%s' must be called NNNN_name.sql".formatted(file));
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

    /** The name of its file. */
    String file() {
        return "%04d_%s.sql".formatted(number, name);
    }

    /** SHA-256 of its text, in hexadecimal. */
    String checksum() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(sql.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }

    /** The statement that enters it into carillon.migration. */
    String entry() {
        return ENTRY.formatted(number, name, checksum(), minCode);
    }
}
