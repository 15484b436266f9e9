package io.carillon.it.dashboard;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The installed Chromium: the file that {@code CARILLON_BROWSER} names, or the first on the path. No browser is
 * downloaded.
 */
final class Chromium implements AutoCloseable {
    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
    private static final List<String> ARGUMENTS = List.of(
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync");

    private static final AtomicBoolean reported = new AtomicBoolean();

    private final Playwright playwright;
    private final Browser browser;

    private Chromium(Path executable) {
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(executable)
                        .setArgs(ARGUMENTS));
    }

    /** Starts the browser; skips the tests if there is none, or fails if {@code CARILLON_REQUIRE_BROWSER} is 1. */
    static Chromium start() {
        Optional<Path> executable = find();
        if (executable.isEmpty()) {
            String text = "No Chromium was found: the tests of the dashboard are skipped. Install one, or name it with"
                    + " CARILLON_BROWSER.";
            if ("1".equals(System.getenv("CARILLON_REQUIRE_BROWSER"))) throw new AssertionError(text);
            if (reported.compareAndSet(false, true)) System.err.println(text);
            Assumptions.abort(text);
        }
        return new Chromium(executable.orElseThrow());
    }

    private static Optional<Path> find() {
        String named = System.getenv("CARILLON_BROWSER");
        if (named != null && !named.isEmpty())
            return Optional.of(Path.of(named)).filter(Files::isExecutable);
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .filter(directory -> !directory.isEmpty())
                .flatMap(directory -> NAMES.stream().map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    Browser browser() {
        return browser;
    }

    @Override
    public void close() {
        Stream.<AutoCloseable>of(browser, playwright).forEach(part -> {
            try {
                part.close();
            } catch (Exception ended) {
                // The browser ends with this process in any case.
            }
        });
    }
}
