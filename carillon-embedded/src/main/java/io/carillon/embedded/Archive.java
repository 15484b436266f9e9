package io.carillon.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Properties;

/** The packed programs of PostgreSQL as found on the class path. */
record Archive(URL location, String version) {

    static Archive find(Platform platform) {
        String version = pinnedVersion();
        URL found = Archive.class.getClassLoader().getResource(platform.archive());
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (found == null && context != null) found = context.getResource(platform.archive());
        if (found == null)
            throw new EmbeddedPostgresException(
                    ("The programs of PostgreSQL for this machine (%s) are not on the class path. Add %s:%s "
                                    + "at run time: Maven does so by itself, Gradle and jars that were built on another kind of machine do not.")
                            .formatted(platform.archive(), platform.artifact(), version));
        return new Archive(found, version);
    }

    /** Version and checksum: another archive under the same version gets a place of its own. */
    String key() {
        try (InputStream packed = location.openStream()) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            for (int read = packed.read(buffer); read >= 0; read = packed.read(buffer)) digest.update(buffer, 0, read);
            return "postgres-" + version + "-" + HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + location, e);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
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
