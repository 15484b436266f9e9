package io.carillon.server.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * The files of the dashboard, read once from the jar, compressed, and named by one hash of their contents. Because the
 * hash is part of their URLs, a browser keeps them until a version with other contents is installed.
 */
public final class DashboardFiles {
    private static final String FOLDER = "/io/carillon/server/dashboard/";
    /** The names of all files, one per line; files in a jar cannot be listed. */
    private static final String INDEX = "files.txt";

    /** In a script: a line that contains a comment only, and the indentation of other lines. */
    private static final Pattern COMMENT = Pattern.compile("(?m)^ *(?:(?://.*|/\\*\\*.*\\*/)\n| )");

    /** In a style sheet: a comment of one line, and the indentation of other lines. */
    private static final Pattern STYLE_COMMENT = Pattern.compile("(?m)^ *(?:/\\*.*\\*/\n| )");

    /** The provider is part of the page, so it must not contain markup. */
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:\\[\\]-]*");

    private static final String PAGE = "index.html";
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    /**
     * A file.
     *
     * @param plain its contents
     * @param compressed its contents in the format gzip
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record StaticFile(String type, byte[] plain, byte[] compressed) {}

    private final Map<String, StaticFile> files = new TreeMap<>();
    private final String hash;
    private final String text;
    private final StaticFile page;

    /**
     * Reads all files.
     *
     * @param provider the name of the identity provider for the login page; the empty string if there is none
     */
    public DashboardFiles(String provider) {
        if (!HOST.matcher(provider).matches()) throw new IllegalArgumentException("not a host name: " + provider);
        for (String name :
                new String(read(INDEX), StandardCharsets.UTF_8).strip().split("\n", -1))
            files.put(name, file(name, withoutComments(name, read(name))));
        hash = hashOf(files);
        text = new String(read(PAGE), StandardCharsets.UTF_8)
                .replace("{hash}", hash)
                .replace("{provider}", provider);
        page = file(PAGE, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the hash that is part of the URLs of the files. */
    String hash() {
        return hash;
    }

    /** Returns the page that loads all files. */
    StaticFile page() {
        return page;
    }

    /** Returns the page for a dashboard in an application: its scripts show no login and no pages of a server. */
    StaticFile pageInApplication() {
        return file(
                PAGE,
                text.replace("<html lang=\"en\"", "<html lang=\"en\" data-application")
                        .getBytes(StandardCharsets.UTF_8));
    }

    Optional<StaticFile> get(String name) {
        return Optional.ofNullable(files.get(name));
    }

    Map<String, StaticFile> all() {
        return files;
    }

    private static StaticFile file(String name, byte[] contents) {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (type == null) throw new IllegalStateException("the dashboard file " + name + " has an unknown type");
        return new StaticFile(type, contents, compress(contents));
    }

    /** Comments and indentation are for people who read the sources; a browser does without. */
    private static byte[] withoutComments(String name, byte[] contents) {
        if (!name.endsWith(".js") && !name.endsWith(".css")) return contents;
        return (name.endsWith(".js") ? COMMENT : STYLE_COMMENT)
                .matcher(new String(contents, StandardCharsets.UTF_8))
                .replaceAll("")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] read(String name) {
        try (InputStream in = DashboardFiles.class.getResourceAsStream(FOLDER + name)) {
            if (in == null) throw new IllegalStateException(FOLDER + name + " is missing: the jar is incomplete");
            return in.readAllBytes();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    private static byte[] compress(byte[] contents) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new SmallestGzip(bytes)) {
            gzip.write(contents);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /** Files are compressed once and sent often. */
    private static final class SmallestGzip extends GZIPOutputStream {
        SmallestGzip(OutputStream bytes) throws IOException {
            super(bytes);
            def.setLevel(Deflater.BEST_COMPRESSION);
        }
    }

    private static String hashOf(Map<String, StaticFile> files) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            files.forEach((name, file) -> {
                digest.update(name.getBytes(StandardCharsets.UTF_8));
                digest.update(file.plain());
            });
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
