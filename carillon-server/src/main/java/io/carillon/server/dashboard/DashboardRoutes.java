package io.carillon.server.dashboard;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Serves the dashboard: one page and its files. They contain no data of any project, so they need no key; the page
 * reads everything from the API with a session. All URLs are relative, so that the server works under any path prefix
 * of a proxy.
 */
public final class DashboardRoutes {
    /** The path of the page. */
    public static final String PATH = "/ui";

    /** The page loads scripts and styles of this server only, and no inline ones. It may be shown in no frame. */
    static final String CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; "
            + "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'";

    private static final String IMMUTABLE = "public, max-age=31536000, immutable";

    private final DashboardFiles files;
    private final DashboardFiles.StaticFile page;

    /** Creates the routes of a server, whose users log in with sessions. */
    public DashboardRoutes(DashboardFiles files) {
        this(files, files.page());
    }

    private DashboardRoutes(DashboardFiles files, DashboardFiles.StaticFile page) {
        this.files = files;
        this.page = page;
    }

    /** Creates the routes of a dashboard in an application, which identifies its users. */
    public static DashboardRoutes inApplication(DashboardFiles files) {
        return new DashboardRoutes(files, files.pageInApplication());
    }

    public List<Route> routes() {
        return List.of(
                Route.get("/", Permission.PUBLIC, request -> redirect("ui")),
                Route.get(PATH + "/", Permission.PUBLIC, request -> redirect("../ui")),
                Route.get(PATH, Permission.PUBLIC, request -> respond(request, page, "no-cache")),
                Route.get(PATH + "/{hash}/{file}", Permission.PUBLIC, this::file));
    }

    private static ApiResponse redirect(String location) {
        return new ApiResponse(302, Map.of("Location", location), new byte[0], null);
    }

    /**
     * Returns a file. While nodes of two versions run, a page of one may ask the other for its files: the node answers
     * with its own, which the browser must not keep under this URL.
     */
    private ApiResponse file(ApiRequest request) {
        DashboardFiles.StaticFile file =
                files.get(request.pathValue("file")).orElseThrow(() -> Problem.notFound("file"));
        boolean current = request.pathValue("hash").equals(files.hash());
        return respond(request, file, current ? IMMUTABLE : "no-store");
    }

    private static ApiResponse respond(ApiRequest request, DashboardFiles.StaticFile file, String cacheControl) {
        boolean gzip = acceptsGzip(request.header("Accept-Encoding").orElse(""));
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", file.type());
        headers.put("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        headers.put("Cache-Control", cacheControl);
        headers.put("Vary", "Accept-Encoding");
        if (gzip) headers.put("Content-Encoding", "gzip");
        return new ApiResponse(200, headers, gzip ? file.compressed() : file.plain(), null);
    }

    private static boolean acceptsGzip(String header) {
        for (String coding : header.split(",", -1))
            if (coding.strip().matches("(?i)gzip(\\s*;\\s*q=(1(\\.0+)?|0?\\.\\d*[1-9]\\d*))?")) return true;
        return false;
    }
}
