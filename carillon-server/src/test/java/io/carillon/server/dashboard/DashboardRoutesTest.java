package io.carillon.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The page and its files are served without a key, with headers that protect and cache them. */
class DashboardRoutesTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static final Pattern URL = Pattern.compile("(?:href|src)=\"([^\"]+)\"");

    private static RestTestServer.Reply get(String path, String... headers) {
        return SERVER.sendTo(SERVER.server().port(), null, "GET", path, null, headers);
    }

    private static List<String> urls() {
        return URL.matcher(get("/ui").text())
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    @Test
    void the_page_allows_only_scripts_and_styles_of_this_server() {
        RestTestServer.Reply page = get("/ui").requireStatus(200);

        assertThat(page.header("Content-Type")).contains("text/html; charset=utf-8");
        assertThat(page.header("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'")
                .contains("frame-ancestors 'none'", "trusted-types 'none'")
                .doesNotContain("unsafe", "http", "data:", "*");
        assertThat(page.header("X-Frame-Options")).contains("DENY");
        assertThat(page.header("Cache-Control")).contains("no-cache");
        assertThat(page.text()).doesNotContain("{hash}", "<style", "style=", "onload=");
    }

    @Test
    void all_urls_are_relative_so_that_a_path_prefix_works() {
        assertThat(urls()).isNotEmpty().allMatch(url -> url.matches("ui/[0-9a-f]{16}/[a-z.]+"));
        assertThat(redirect("/")).isEqualTo("ui");
        assertThat(redirect("/ui/")).isEqualTo("../ui");
    }

    private static String redirect(String path) {
        try {
            HttpResponse<String> response = HttpClient.newBuilder()
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .build()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                                            + SERVER.server().port() + path))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode()).isEqualTo(302);
            return response.headers().firstValue("Location").orElseThrow();
        } catch (java.io.IOException | InterruptedException failure) {
            throw new AssertionError(path, failure);
        }
    }

    @Test
    void files_are_kept_by_browsers_as_long_as_their_hash_is_the_same() {
        for (String url : urls())
            assertThat(get("/" + url).requireStatus(200).header("Cache-Control"))
                    .as(url)
                    .contains("public, max-age=31536000, immutable");
        Matcher hash = Pattern.compile("[0-9a-f]{16}").matcher(urls().get(0));
        assertThat(hash.find()).isTrue();
        String other = "/" + urls().get(0).replace(hash.group(), "0123456789abcdef");
        assertThat(get(other).requireStatus(200).header("Cache-Control")).contains("no-store");
        assertThat(get("/ui/" + hash.group() + "/openapi.json").status()).isEqualTo(404);
        assertThat(get("/ui/" + hash.group() + "/..%2fopenapi.json").status()).isIn(400, 404);
    }

    @Test
    void files_are_compressed_for_clients_that_accept_it() {
        String url = "/" + urls().get(urls().size() - 1);

        assertThat(get(url, "Accept-Encoding", "br, gzip").header("Content-Encoding"))
                .contains("gzip");
        assertThat(get(url, "Accept-Encoding", "gzip;q=0").header("Content-Encoding"))
                .isEmpty();
        assertThat(get(url).header("Content-Encoding")).isEmpty();
        assertThat(get(url).header("Vary")).contains("Accept-Encoding");
    }
}
