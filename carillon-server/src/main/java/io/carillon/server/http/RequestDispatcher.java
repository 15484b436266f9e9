package io.carillon.server.http;

import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Uuid7;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles one request: finds the route, identifies the caller, checks the permission, reads the body and runs the
 * action. Every failure becomes a problem response.
 */
public final class RequestDispatcher {
    private static final Logger log = LoggerFactory.getLogger(RequestDispatcher.class);
    private static final Logger accessLog = LoggerFactory.getLogger("io.carillon.server.access");
    private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9._-]{1,100}");
    /**
     * Fewer than the threads of the HTTP server: when all these requests wait for a database that does not answer,
     * threads are left to answer further requests with 503.
     */
    private static final int MAX_CONCURRENT_REQUESTS = 120;

    private static final Duration MAX_BODY_READ_TIME = Duration.ofSeconds(20);
    static final String REQUEST_ID_HEADER = "X-Request-Id";

    /** A request as the HTTP server received it. */
    record RawRequest(
            String method,
            String path,
            @Nullable String query,
            Map<String, String> headers,
            String remoteAddress,
            InputStream body) {}

    /** A completed request, for meters. It contains no text from the caller: {@code path} is the path of the route. */
    public record CompletedRequest(String method, String path, int status, Duration took) {}

    /** Called after every request. */
    @FunctionalInterface
    public interface CompletionListener {
        void onCompleted(CompletedRequest request);
    }

    private final Router router;
    private final Authenticator authenticator;
    private final int maxBodyBytes;
    private final CompletionListener completionListener;
    private final Semaphore requestPermits = new Semaphore(MAX_CONCURRENT_REQUESTS);

    public RequestDispatcher(
            Router router, Authenticator authenticator, int longestBody, CompletionListener completionListener) {
        this.router = router;
        this.authenticator = authenticator;
        this.maxBodyBytes = longestBody;
        this.completionListener = completionListener;
    }

    ApiResponse dispatch(RawRequest request) {
        long began = System.nanoTime();
        String requestId = requestId(request);
        RequestState state = new RequestState();
        ApiResponse response = respond(request, requestId, state)
                .withHeader(REQUEST_ID_HEADER, requestId)
                .withHeader("X-Content-Type-Options", "nosniff")
                .withHeader("Cache-Control", "no-store");
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        logAndReport(request, requestId, state, response, took);
        return response;
    }

    private static final class RequestState {
        String path = "unknown";
        Caller caller = Caller.anonymous();
    }

    private ApiResponse respond(RawRequest request, String requestId, RequestState state) {
        try {
            return authorizeAndInvoke(request, requestId, state);
        } catch (RuntimeException | StackOverflowError failure) {
            Problem problem = ErrorMapping.toProblem(failure);
            if (problem.status() >= 500)
                log.warn("request failed request={} path={} code={}", requestId, state.path, problem.code(), failure);
            return problem.toResponse(requestId);
        }
    }

    private ApiResponse authorizeAndInvoke(RawRequest request, String requestId, RequestState state) {
        String method = request.method().equals("HEAD") ? "GET" : request.method();
        Router.RouteMatch routeMatch = router.find(method, decodedSegments(request.path()));
        Route route = routeMatch.route();
        state.path = route.path();
        ApiRequest.Head head = new ApiRequest.Head(
                route,
                routeMatch.pathValues(),
                parseQuery(request.query()),
                request.headers(),
                requestId,
                request.remoteAddress());
        if (route.permission() == Permission.PUBLIC) return invokeRoute(head, request, state);
        if (!requestPermits.tryAcquire()) throw ErrorMapping.busy();
        try {
            state.caller = authenticator.identify(new ApiRequest(head, new byte[0], Caller.anonymous()));
            state.caller.requireAllowed(route);
            return invokeRoute(head, request, state);
        } catch (Problem problem) {
            if (problem.status() == 403) authenticator.onForbidden(new ApiRequest(head, new byte[0], state.caller));
            throw problem;
        } finally {
            requestPermits.release();
        }
    }

    private ApiResponse invokeRoute(ApiRequest.Head head, RawRequest request, RequestState state) {
        refuseUnknownParameters(head);
        return head.route().action().handle(new ApiRequest(head, readBody(request), state.caller));
    }

    private static void refuseUnknownParameters(ApiRequest.Head head) {
        for (String name : head.query().keySet())
            if (!head.route().queryParameters().contains(name))
                throw Problem.of(400, "unknown-parameter", "Unknown query parameter. The field \"errors\" says where.")
                        .withFault(
                                TextCleaner.clean(name, 100),
                                "Allowed parameters: "
                                        + new java.util.TreeSet<>(head.route().queryParameters()) + ".");
    }

    /**
     * Reads the body within {@link #MAX_BODY_READ_TIME}, because a slow client blocks a thread. Reads up to four times
     * the maximum size and discards the rest, so that a client that sends too much can still read the response.
     */
    private byte[] readBody(RawRequest request) {
        long end = System.nanoTime() + MAX_BODY_READ_TIME.toNanos();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] part = new byte[8_192];
        long total = 0;
        try {
            for (int read = request.body().read(part);
                    read >= 0 && total <= 4L * maxBodyBytes;
                    read = request.body().read(part)) {
                total += read;
                if (total <= maxBodyBytes) body.write(part, 0, read);
                if (System.nanoTime() > end)
                    throw Problem.of(
                            400,
                            "body-incomplete",
                            "The body did not arrive within %d seconds. Send it again."
                                    .formatted(MAX_BODY_READ_TIME.toSeconds()));
            }
        } catch (IOException broken) {
            throw Problem.of(400, "body-incomplete", "The body ended before it was complete. Send it again.");
        }
        if (total > maxBodyBytes)
            throw Problem.of(
                    413,
                    "body-too-large",
                    "The body must have at most %d bytes. Send less in one request.".formatted(maxBodyBytes));
        return body.toByteArray();
    }

    private static List<String> decodedSegments(String path) {
        List<String> parts = new ArrayList<>();
        for (String segment : Route.segments(path.startsWith("/") ? path : "/" + path))
            parts.add(decode(segment, true));
        return parts;
    }

    private static Map<String, List<String>> parseQuery(@Nullable String raw) {
        Map<String, List<String>> values = new HashMap<>();
        if (raw == null || raw.isEmpty()) return values;
        for (String pair : raw.split("&", -1)) {
            if (pair.isEmpty()) continue;
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals), false);
            String value = equals < 0 ? "" : decode(pair.substring(equals + 1), false);
            values.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
        }
        return values;
    }

    private static String decode(String text, boolean path) {
        try {
            String plain = URLDecoder.decode(path ? text.replace("+", "%2B") : text, StandardCharsets.UTF_8);
            if (TextCleaner.isClean(plain)) return plain;
        } catch (IllegalArgumentException malformed) {
            // The exception below says so.
        }
        throw Problem.of(400, "malformed-url", "The path or query is not well-formed. Percent-encode it as UTF-8.");
    }

    private static String requestId(RawRequest request) {
        String given = request.headers().getOrDefault(REQUEST_ID_HEADER.toLowerCase(Locale.ROOT), "");
        return REQUEST_ID.matcher(given).matches() ? given : PublicId.format("req", Uuid7.next());
    }

    private void logAndReport(
            RawRequest request, String requestId, RequestState state, ApiResponse response, Duration took) {
        String method = request.method().matches("[A-Z]{1,10}") ? request.method() : "OTHER";
        completionListener.onCompleted(new CompletedRequest(method, state.path, response.status(), took));
        // The path of the route, not of the caller: a URL may contain a secret, which must not get into the log.
        boolean routine = state.path.endsWith("z") || state.path.equals("/metrics");
        if (routine) accessLog.debug("{} {} {} {}ms", method, state.path, response.status(), took.toMillis());
        else
            accessLog.info(
                    "{} {} {} {}ms request={} project={} actor={} from={}",
                    method,
                    state.path,
                    response.status(),
                    took.toMillis(),
                    requestId,
                    state.caller.project(),
                    ControlCharacters.escape(state.caller.actor()),
                    request.remoteAddress());
    }
}
