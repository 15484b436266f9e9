package io.carillon.server.http;

import io.carillon.value.PublicId;
import io.carillon.value.Text;
import io.carillon.value.Uuid7;
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

/** Leads a request through the house: route, caller, permission, body, action. Whatever happens inside, an answer or a problem comes out. */
public final class Front {
    private static final Logger log = LoggerFactory.getLogger(Front.class);
    private static final Logger access = LoggerFactory.getLogger("io.carillon.server.access");
    private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9._-]{1,100}");
    /** Fewer than there are threads: when all of them wait for a database that says nothing, somebody is left to say so. */
    private static final int AT_ONCE = 120;

    private static final Duration LONGEST_READ = Duration.ofSeconds(20);
    static final String REQUEST_ID_HEADER = "X-Request-Id";

    /** A request as it came in. */
    record Incoming(
            String method,
            String path,
            @Nullable String query,
            Map<String, String> headers,
            String remote,
            InputStream body) {}

    /** What a request became, for meters: never with anything the caller wrote. */
    public record Served(String method, String path, int status, Duration took) {}

    /** Hears of every request. */
    @FunctionalInterface
    public interface Listener {
        void served(Served request);
    }

    private final Router router;
    private final Authenticator authenticator;
    private final int longestBody;
    private final Listener listener;
    private final Semaphore places = new Semaphore(AT_ONCE);

    public Front(Router router, Authenticator authenticator, int longestBody, Listener listener) {
        this.router = router;
        this.authenticator = authenticator;
        this.longestBody = longestBody;
        this.listener = listener;
    }

    Answer serve(Incoming request) {
        long began = System.nanoTime();
        String requestId = requestId(request);
        Trace trace = new Trace();
        Answer answer = answer(request, requestId, trace)
                .header(REQUEST_ID_HEADER, requestId)
                .header("X-Content-Type-Options", "nosniff")
                .header("Cache-Control", "no-store");
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        tell(request, requestId, trace, answer, took);
        return answer;
    }

    /** How far a request came. */
    private static final class Trace {
        String path = "unknown";
        Caller caller = Caller.nobody();
    }

    private Answer answer(Incoming request, String requestId, Trace trace) {
        try {
            return answered(request, requestId, trace);
        } catch (RuntimeException | StackOverflowError failure) {
            Problem problem = Troubles.of(failure);
            if (problem.status() >= 500)
                log.warn("request failed request={} path={} code={}", requestId, trace.path, problem.code(), failure);
            return problem.answer(requestId);
        }
    }

    private Answer answered(Incoming request, String requestId, Trace trace) {
        String method = request.method().equals("HEAD") ? "GET" : request.method();
        Router.Found found = router.find(method, parts(request.path()));
        Route route = found.route();
        trace.path = route.path();
        Call.Head head = new Call.Head(
                route, found.values(), query(request.query()), request.headers(), requestId, request.remote());
        if (route.permission() == Permission.PUBLIC) return done(head, request, trace);
        if (!places.tryAcquire()) throw Troubles.busy();
        try {
            trace.caller = authenticator.identify(new Call(head, new byte[0], Caller.nobody()));
            if (!trace.caller.may(route.permission()))
                throw Problem.of(
                        403,
                        "forbidden",
                        "This needs the scope %s. Use a key that has it."
                                .formatted(route.permission().text()));
            return done(head, request, trace);
        } finally {
            places.release();
        }
    }

    private Answer done(Call.Head head, Incoming request, Trace trace) {
        refuseUnknown(head);
        return head.route().action().on(new Call(head, body(request), trace.caller));
    }

    private static void refuseUnknown(Call.Head head) {
        for (String name : head.query().keySet())
            if (!head.route().query().contains(name))
                throw Problem.of(400, "unknown-parameter", "A query parameter is not known here.")
                        .at(
                                Text.clean(name, 100),
                                "Known: " + new java.util.TreeSet<>(head.route().query()) + ".");
    }

    /** Who sends it more slowly than allowed holds a thread for nothing. What is too long is read on for a while, so that its sender gets to read the answer. */
    private byte[] body(Incoming request) {
        long end = System.nanoTime() + LONGEST_READ.toNanos();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] part = new byte[8_192];
        long total = 0;
        try {
            for (int read = request.body().read(part);
                    read >= 0 && total <= 4L * longestBody;
                    read = request.body().read(part)) {
                total += read;
                if (total <= longestBody) body.write(part, 0, read);
                if (System.nanoTime() > end)
                    throw Problem.of(400, "body-incomplete", "The body took too long. Send it again, faster.");
            }
        } catch (IOException broken) {
            throw Problem.of(400, "body-incomplete", "The body ended before it was complete. Send it again.");
        }
        if (total > longestBody)
            throw Problem.of(
                    413,
                    "body-too-large",
                    "The body has more than %d bytes. Send less at a time.".formatted(longestBody));
        return body.toByteArray();
    }

    private static List<String> parts(String path) {
        List<String> parts = new ArrayList<>();
        for (String segment : Route.segments(path.startsWith("/") ? path : "/" + path))
            parts.add(decoded(segment, true));
        return parts;
    }

    private static Map<String, List<String>> query(@Nullable String raw) {
        Map<String, List<String>> values = new HashMap<>();
        if (raw == null || raw.isEmpty()) return values;
        for (String pair : raw.split("&", -1)) {
            if (pair.isEmpty()) continue;
            int equals = pair.indexOf('=');
            String name = decoded(equals < 0 ? pair : pair.substring(0, equals), false);
            String value = equals < 0 ? "" : decoded(pair.substring(equals + 1), false);
            values.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
        }
        return values;
    }

    private static String decoded(String text, boolean path) {
        try {
            String plain = URLDecoder.decode(path ? text.replace("+", "%2B") : text, StandardCharsets.UTF_8);
            if (Text.isClean(plain)) return plain;
        } catch (IllegalArgumentException malformed) {
            // Said below.
        }
        throw Problem.of(400, "malformed-url", "The path or the query is not well-formed. Encode it as UTF-8 with %.");
    }

    private static String requestId(Incoming request) {
        String given = request.headers().getOrDefault(REQUEST_ID_HEADER.toLowerCase(Locale.ROOT), "");
        return REQUEST_ID.matcher(given).matches() ? given : PublicId.format("req", Uuid7.next());
    }

    private void tell(Incoming request, String requestId, Trace trace, Answer answer, Duration took) {
        String method = request.method().matches("[A-Z]{1,10}") ? request.method() : "OTHER";
        listener.served(new Served(method, trace.path, answer.status(), took));
        // The path is the route's, not the caller's: nobody's secret gets into a log by way of a URL.
        boolean routine = trace.path.endsWith("z") || trace.path.equals("/metrics");
        if (routine) access.debug("{} {} {} {}ms", method, trace.path, answer.status(), took.toMillis());
        else
            access.info(
                    "{} {} {} {}ms request={} project={} actor={} from={}",
                    method,
                    trace.path,
                    answer.status(),
                    took.toMillis(),
                    requestId,
                    trace.caller.project(),
                    trace.caller.actor(),
                    request.remote());
    }
}
