package io.carillon.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Properties;

/** The archive with the PostgreSQL binaries on the class path. */
record Archive(URL location, String version) {

    static Archive find(Platform platform) {
        String version = pinnedVersion();
        URL found = Archive.class.getClassLoader().getResource(platform.archive());
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (found == null && context != null) found = context.getResource(platform.archive());
        if (found == null)
            throw new EmbeddedPostgresException(
                    ("The PostgreSQL binaries for this platform (%s) are not on the class path. Add %s:%s at run"
                                    + " time. Maven adds it automatically; Gradle, and jars built on another platform,"
                                    + " do not.")
                            .formatted(platform.archive(), platform.artifact(), version));
        return new Archive(found, version);
    }

    /** Returns a key of version and checksum, so that another archive with the same version gets its own directory. */
    String key() {
        try (InputStream packed = location.openStream()) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            for (int read = packed.read(buffer); read >= 0; read = packed.read(buffer)) digest.update(buffer, 0, read);
            return "postgres-" + version + "-" + HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + location, e);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("SHA-256 is not available", e);
        }
    }

    private static String pinnedVersion() {
        try (InputStream properties = Archive.class.getResourceAsStream("binaries.properties")) {
            Properties read = new Properties();
            if (properties != null) read.load(properties);
            return read.getProperty("version", "unknown");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read binaries.properties", e);
        }
    }
}
