package io.carillon.dashboard;

import io.carillon.server.ApplicationApi;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.RequestDispatcher.RawRequest;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes requests of a servlet container to the API of the dashboard, and its responses back. */
final class DashboardServlet extends HttpServlet {
    private static final Logger log = LoggerFactory.getLogger(DashboardServlet.class);
    private static final long serialVersionUID = 1;
    private static final int STREAM_THREADS = 2;

    private final transient CarillonDashboard settings;
    private final transient ServletAuthenticator authenticator;
    private transient @Nullable Parts parts;

    /** What the first request creates: the tables may not exist earlier. */
    private record Parts(ApplicationApi api, ScheduledExecutorService streamThreads) {}

    DashboardServlet(CarillonDashboard settings) {
        this.settings = settings;
        this.authenticator = new ServletAuthenticator(settings);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getPathInfo() == null) {
            redirectToPage(request, response);
            return;
        }
        Parts ready;
        try {
            ready = parts();
        } catch (RuntimeException failure) {
            log.warn("dashboard has no database; will retry", failure);
            response.setHeader("Retry-After", "2");
            response.sendError(503, "The database is unavailable, or its tables do not exist yet.");
            return;
        }
        ApiResponse answer =
                authenticator.during(request, () -> ready.api().handle(rawRequest(request), request::getInputStream));
        send(answer, request, response, ready.streamThreads());
    }

    private synchronized Parts parts() {
        Parts created = parts;
        if (created == null) {
            created = new Parts(
                    new ApplicationApi(
                            settings.carillon(), settings.dataSource(), authenticator, !settings.isReadOnly()),
                    Threads.startPool(STREAM_THREADS));
            parts = created;
        }
        return created;
    }

    /** The location is relative, because a proxy may have removed a prefix. */
    private static void redirectToPage(HttpServletRequest request, HttpServletResponse response) {
        String path = request.getServletPath();
        response.setStatus(HttpServletResponse.SC_FOUND);
        response.setHeader("Location", path.substring(path.lastIndexOf('/') + 1) + "/ui");
    }

    private static RawRequest rawRequest(HttpServletRequest request) {
        Map<String, String> headers = new HashMap<>();
        for (String name : Collections.list(request.getHeaderNames()))
            headers.put(name.toLowerCase(Locale.ROOT), String.join(", ", Collections.list(request.getHeaders(name))));
        return new RawRequest(
                request.getMethod(),
                encoded(request.getPathInfo()),
                request.getQueryString(),
                headers,
                request.getRemoteAddr());
    }

    /** The container has decoded the path, and removed the path of the servlet. */
    private static String encoded(String path) {
        return Arrays.stream(path.split("/", -1))
                .map(segment ->
                        URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20"))
                .collect(Collectors.joining("/"));
    }

    private static void send(
            ApiResponse answer,
            HttpServletRequest request,
            HttpServletResponse response,
            ScheduledExecutorService streamThreads)
            throws IOException {
        ApiResponse.Streaming stream = answer.stream();
        if (stream != null && !request.isAsyncSupported()) {
            stream.close();
            // The page polls instead.
            response.setStatus(HttpServletResponse.SC_NOT_IMPLEMENTED);
            return;
        }
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (stream != null) {
            ServletStream.start(stream, request, response, streamThreads);
            return;
        }
        response.setContentLength(answer.body().length);
        response.getOutputStream().write(answer.body());
    }

    @Override
    public synchronized void destroy() {
        Parts created = parts;
        if (created == null) return;
        created.api().close();
        created.streamThreads().shutdownNow();
        parts = null;
    }
}
