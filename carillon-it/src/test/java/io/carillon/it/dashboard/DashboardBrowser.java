package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A browser that looks at the dashboard of a server. Both are started once for all classes of this process. A test
 * fails at its end if a page wrote an error to the console, violated the content security policy, executed injected
 * text, or requested another host.
 */
final class DashboardBrowser implements BeforeAllCallback, AfterEachCallback {
    private static final int TIMEOUT_MILLIS = 60_000;
    /** Counts what must not happen, before any script of the page runs. */
    private static final String WATCH = "window.__problems = [];"
            + "document.addEventListener('securitypolicyviolation', e => window.__problems.push("
            + "'policy: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ':' + e.lineNumber));";

    private Shared shared;
    private final List<BrowserContext> contexts = new ArrayList<>();
    private final List<Page> pages = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final List<String> expectedErrors = new ArrayList<>();
    /** The servers that pages may send requests to. */
    private final Set<String> origins = new CopyOnWriteArraySet<>();

    /** The browser and the server; JUnit closes them after the last class. */
    private static final class Shared implements AutoCloseable {
        private final Chromium chromium = Chromium.start();
        private final DashboardServer server = new DashboardServer();

        @Override
        public void close() {
            chromium.close();
            server.close();
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        shared = context.getRoot()
                .getStore(ExtensionContext.Namespace.create(DashboardBrowser.class))
                .computeIfAbsent(Shared.class, key -> new Shared(), Shared.class);
        origins.add(shared.server.url() + "/");
    }

    @Override
    public void afterEach(ExtensionContext context) {
        for (Page page : pages) {
            if (page.isClosed()) continue;
            for (Object problem : (List<?>) page.evaluate("() => window.__problems || []"))
                problems.add(String.valueOf(problem));
            if (Boolean.TRUE.equals(page.evaluate("() => Boolean(window.__injected)")))
                problems.add("injected text was executed at " + page.url());
        }
        contexts.forEach(BrowserContext::close);
        contexts.clear();
        pages.clear();
        List<String> found = problems.stream()
                .filter(problem -> !problem.startsWith("console: ")
                        || expectedErrors.stream().noneMatch(problem::contains))
                .toList();
        problems.clear();
        expectedErrors.clear();
        assertThat(found).isEmpty();
    }

    DashboardServer server() {
        return shared.server;
    }

    String url() {
        return shared.server.url() + "/ui";
    }

    /** Opens the login page of a new browser profile. */
    Page open() {
        return open(new Browser.NewContextOptions());
    }

    /**
     * Opens a page of another server or of an application, which may also call these servers, in a new browser profile.
     */
    Page openAt(String url, String... servers) {
        origins.add(url);
        origins.add(URI.create(url).resolve("/").toString());
        origins.addAll(List.of(servers));
        return open(new Browser.NewContextOptions(), url);
    }

    Page open(Browser.NewContextOptions options) {
        return open(options, url());
    }

    private Page open(Browser.NewContextOptions options, String url) {
        BrowserContext context = shared.chromium.browser().newContext(options.setTimezoneId("Europe/Paris"));
        context.setDefaultTimeout(TIMEOUT_MILLIS);
        context.addInitScript(WATCH);
        contexts.add(context);
        Page page = newTab(context);
        page.navigate(url);
        return page;
    }

    /** Opens a further tab of the same browser profile. */
    Page newTab(BrowserContext context) {
        Page page = context.newPage();
        pages.add(page);
        page.onPageError(error -> problems.add("error: " + error));
        page.onConsoleMessage(message -> {
            if (message.type().equals("error")) problems.add("console: " + message.text() + " " + message.location());
        });
        page.onDialog(dialog -> {
            problems.add("dialog: " + dialog.message());
            dialog.dismiss();
        });
        page.onRequest(request -> {
            if (origins.stream().noneMatch(request.url()::startsWith)) problems.add("request: " + request.url());
        });
        return page;
    }

    /**
     * Ignores errors of the console with this text, such as those of refused requests, also those that come after this
     * call: a page sends several requests.
     */
    void expectConsoleErrors(String text) {
        expectedErrors.add(text);
    }

    /** Logs in with a key and waits for the menu. */
    Page logIn(Page page, String key) {
        page.fill("#key", key);
        page.click("button[type=submit]");
        page.locator("nav[aria-label=Pages]").first().waitFor(attached());
        return page;
    }

    static com.microsoft.playwright.Locator.WaitForOptions attached() {
        return new com.microsoft.playwright.Locator.WaitForOptions()
                .setState(com.microsoft.playwright.options.WaitForSelectorState.ATTACHED);
    }

    Page loggedIn() {
        return logIn(open(), server().key());
    }

    Page loggedIn(ColorScheme colors, int width, int height) {
        return logIn(
                open(new Browser.NewContextOptions().setColorScheme(colors).setViewportSize(width, height)),
                server().key());
    }

    /** Shows a view and waits until its data is there. */
    void show(Page page, String view) {
        page.evaluate("view => { location.hash = view; }", view);
        settle(page);
    }

    /** Waits until no part of the page is loading. */
    void settle(Page page) {
        page.waitForFunction("() => document.querySelector('h1') && !document.querySelector('[aria-busy=true]')");
    }
}
