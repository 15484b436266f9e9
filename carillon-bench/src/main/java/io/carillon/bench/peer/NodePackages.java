package io.carillon.bench.peer;

import io.carillon.bench.measure.MeasureException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The peers written in JavaScript, and the version of Node that they need. npm installs them into a temporary directory
 * at the first use; package.json pins the versions.
 */
final class NodePackages {
    private static final List<String> FILES = List.of("package.json", "peer.mjs");
    private static final int INSTALL_MINUTES = 5;

    private NodePackages() {}

    /** Returns whether npm is installed, which comes with Node. */
    static boolean isNpmInstalled() {
        try {
            return new ProcessBuilder("npm", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException missing) {
            return false;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new MeasureException("The measurement was interrupted.", stopped);
        }
    }

    /** Returns the directory with the installed packages and the script. */
    static synchronized Path install() throws IOException {
        String version = HexFormat.of().toHexDigits(new String(bytes(FILES.get(0)), StandardCharsets.UTF_8).hashCode());
        Path directory = Path.of(System.getProperty("java.io.tmpdir"), "carillon-bench-node-" + version);
        Files.createDirectories(directory);
        for (String file : FILES) Files.copy(open(file), directory.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        Path complete = directory.resolve("installed");
        if (!Files.exists(complete)) {
            runNpm(directory);
            Files.createFile(complete);
        }
        return directory;
    }

    private static void runNpm(Path directory) throws IOException {
        Process npm = new ProcessBuilder("npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("npm.log").toFile())
                .start();
        try {
            if (npm.waitFor(INSTALL_MINUTES, TimeUnit.MINUTES) && npm.exitValue() == 0) return;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        npm.destroyForcibly();
        throw new MeasureException("npm could not install the peers. See %s.".formatted(directory.resolve("npm.log")));
    }

    private static byte[] bytes(String file) throws IOException {
        try (InputStream in = open(file)) {
            return in.readAllBytes();
        }
    }

    private static InputStream open(String file) throws IOException {
        InputStream in = NodePackages.class.getResourceAsStream(file);
        if (in == null) throw new IOException("The resource %s is missing.".formatted(file));
        return in;
    }
}
