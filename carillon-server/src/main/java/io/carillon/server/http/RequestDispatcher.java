package io.carillon.server.http;

import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Uuid7;
import io.carillon.server.share.RecentValues;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles one request in two steps. The first finds the route, identifies the caller and checks the permission; the
 * second has the body and runs the action. The body arrives between the two. Every failure becomes a problem response.
 */
public final class RequestDispatcher {
    private static final Logger log = LoggerFactory.getLogger(RequestDispatcher.class);
    private static final Logger accessLog = LoggerFactory.getLogger("io.carillon.server.access");
    private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");
    /** Each method is a tag of a meter, so that a client must not be able to invent further ones. */
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS");

    private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9._-]{1,100}");
    /** Of a body that is too long, so much is read. A longer one is rejected unread. */
    static final long MAX_READ_BYTES = 4L * Route.MAX_BODY_BYTES;

    /** The memory of smaller responses is not counted: that of all requests in progress together is small. */
    private static final int MIN_RESERVED_RESPONSE = 16 * 1024;

    static final String REQUEST_ID_HEADER = "X-Request-Id";

    /**
     * A request as the HTTP server received it, without its body.
     *
     * @param path the encoded path
     * @param query the encoded query; null if there is none
     * @param headers the values by their names in lower case; several values of a name are separated by commas
     */
    public record RawRequest(
            String method, String path, @Nullable String query, Map<String, String> headers, String remoteAddress) {
        String header(String name) {
            return headers.getOrDefault(name, "");
        }

        long declaredLength() {
            String length = header("content-length");
            if (length.isEmpty()) return 0;
            return LENGTH.matcher(length).matches() ? Long.parseLong(length) : Long.MAX_VALUE;
        }

        boolean hasBody() {
            return declaredLength() > 0 || headers.containsKey("transfer-encoding");
        }
    }

    /** The body of a request, which is read with blocking calls. */
    @FunctionalInterface
    public interface BodySource {
        InputStream open() throws IOException;
    }

    /** A completed request, for meters. It contains no text from the caller: {@code path} is the path of the route. */
    public record CompletedRequest(String method, String path, int status, Duration took) {}

    /** Called after every request. */
    @FunctionalInterface
    public interface CompletionListener {
        void onCompleted(CompletedRequest request);
    }

    /** A request after the first step: either refused, or waiting for its body. */
    static final class PendingRequest {
        private final RawRequest raw;
        private final String requestId;
        private final long beganNanos = System.nanoTime();
        private String path = "unknown";
        private Caller caller = Caller.anonymous();
        private ApiRequest.@Nullable Head head;
        private @Nullable ApiResponse refusal;

        PendingRequest(RawRequest raw) {
            this.raw = raw;
            this.requestId = requestId(raw);
        }

        /** Returns the response of a request that was refused; null if it waits for its body. */
        @Nullable
        ApiResponse refusal() {
            return refusal;
        }

        boolean hasBody() {
            return raw.hasBody();
        }

        /** Returns the project of the caller; the empty string if the caller has no key. */
        String project() {
            return caller.project();
        }

        int maxBodyBytes() {
            return requireHead().route().maxBodyBytes();
        }

        private ApiRequest.Head requireHead() {
            if (head == null) throw new IllegalStateException("the request has no route");
            return head;
        }
    }

    private final Router router;
    private final Authenticator authenticator;
    private final Predicate<String> hostAllowed;
    private final CompletionListener completionListener;
    private boolean logsRequests = true;
    private final RequestPermits permits = new RequestPermits();
    private final RequestTurns turns = new RequestTurns();
    private final RecentValues<ApiRequest.SharedKey, ApiResponse> recentAnswers = new RecentValues<>(System::nanoTime);
    private final MemoryBudget memory;
    private final boolean readOnly;

    /**
     * Creates a dispatcher.
     *
     * @param hostAllowed whether the server answers requests with this {@code Host} header
     * @param bodyMemory the bytes that the bodies of all requests in progress may use
     * @param readOnly whether every request that changes something is refused
     */
    public RequestDispatcher(
            Router router,
            Authenticator authenticator,
            Predicate<String> hostAllowed,
            long bodyMemory,
            boolean readOnly,
            CompletionListener completionListener) {
        this.router = router;
        this.authenticator = authenticator;
        this.hostAllowed = hostAllowed;
        this.memory = new MemoryBudget(bodyMemory);
        this.readOnly = readOnly;
        this.completionListener = completionListener;
    }

    /**
     * Creates a dispatcher for requests that an application receives: the application decides about host names, and
     * has an access log of its own.
     */
    public static RequestDispatcher forApplication(Router router, Authenticator authenticator) {
        RequestDispatcher dispatcher =
                new RequestDispatcher(router, authenticator, host -> true, defaultBodyMemory(), false, request -> {});
        dispatcher.logsRequests = false;
        return dispatcher;
    }

    /** Returns the memory for bodies that fits the heap. */
    public static long defaultBodyMemory() {
        return MemoryBudget.partOfHeap();
    }

    /** Returns the memory that bodies may use. */
    MemoryBudget memory() {
        return memory;
    }

    /** Handles a request of an HTTP server whose threads may wait for the body. */
    public ApiResponse handle(RawRequest raw, BodySource source) {
        PendingRequest pending = accept(raw);
        ApiResponse refusal = pending.refusal();
        if (refusal != null) return refusal;
        try (MemoryBudget.Reservation reservation = memory.reserveNothing(pending.project())) {
            return execute(pending, pending.hasBody() ? read(source.open(), pending) : new byte[0], reservation);
        } catch (Problem tooLarge) {
            return refuse(pending, tooLarge);
        } catch (IOException broken) {
            return refuse(pending, ErrorMapping.bodyIncomplete());
        }
    }

    private static byte[] read(InputStream in, PendingRequest pending) throws IOException {
        int most = pending.maxBodyBytes();
        byte[] body = in.readNBytes(most + 1);
        if (body.length <= most) return body;
        // A client that still sends would not read the response.
        for (long left = MAX_READ_BYTES; left > 0 && in.read() >= 0; ) left -= 1 + in.skip(Math.min(left, 8_192));
        throw ErrorMapping.bodyTooLarge(most);
    }

    /** Finds the route, identifies the caller and checks everything that does not need the body. */
    PendingRequest accept(RawRequest raw) {
        PendingRequest pending = new PendingRequest(raw);
        try {
            pending.head = authorizedHead(pending);
        } catch (RuntimeException | StackOverflowError failure) {
            pending.refusal = refuse(pending, failure);
        }
        return pending;
    }

    /** Runs the action of an accepted request. The reservation then has the memory of the response. */
    ApiResponse execute(PendingRequest pending, byte[] body, MemoryBudget.Reservation reservation) {
        try {
            reservation.add(Json.treeBytes(body));
            ApiRequest request = new ApiRequest(pending.requireHead(), body, pending.caller, reservation::add);
            Supplier<ApiResponse> call = () -> tagged(request, invoke(pending, request));
            ApiResponse response = request.sharing()
                    .map(sharing -> recentAnswers.get(sharing.key(), sharing.maxAge(), call))
                    .orElseGet(call);
            ApiResponse answer = EntityTags.unlessKnown(request, response);
            reserve(reservation, request.route(), answer.body().length);
            return complete(pending, answer);
        } catch (RuntimeException | StackOverflowError failure) {
            reservation.shrink(0);
            return refuse(pending, failure);
        }
    }

    private static ApiResponse tagged(ApiRequest request, ApiResponse response) {
        return request.route().path().startsWith("/v1/") ? EntityTags.withTag(request, response) : response;
    }

    /**
     * Reserves the memory of a response, which a client may read slowly. Those of public routes are the same bytes for
     * all clients. What a request has changed cannot be refused any more.
     */
    private static void reserve(MemoryBudget.Reservation reservation, Route route, int length) {
        boolean reserved = route.permission() != Permission.PUBLIC && length >= MIN_RESERVED_RESPONSE;
        if (reserved && route.method().equals("GET")) reservation.resize(length);
        else reservation.shrink(reserved ? length : 0);
    }

    /** Returns the response to a request that failed. */
    ApiResponse refuse(PendingRequest pending, Throwable failure) {
        Problem problem = ErrorMapping.toProblem(failure);
        if (problem.status() >= 500)
            log.warn(
                    "request failed request={} path={} code={}",
                    pending.requestId,
                    pending.path,
                    problem.code(),
                    failure);
        return complete(pending, problem.toResponse(pending.requestId));
    }

    private ApiRequest.Head authorizedHead(PendingRequest pending) {
        RawRequest raw = pending.raw;
        String method = raw.method().equals("HEAD") ? "GET" : raw.method();
        Router.RouteMatch match = router.find(method, decodedSegments(raw.path()));
        Route route = match.route();
        pending.path = route.path();
        refuseUnknownHost(raw, route);
        refuseUnexpectedBody(raw, route);
        ApiRequest.Head head = new ApiRequest.Head(
                route,
                match.pathValues(),
                parseQuery(raw.query()),
                raw.headers(),
                pending.requestId,
                raw.remoteAddress());
        if (route.permission() != Permission.PUBLIC) {
            RequestPermits.Permit permit = permits.toIdentify();
            try {
                pending.caller = identify(head);
            } finally {
                permit.release();
            }
        }
        if (readOnly && route.isChange()) throw Problem.readOnly();
        refuseUnknownParameters(head);
        if (raw.declaredLength() > MAX_READ_BYTES) throw ErrorMapping.bodyTooLarge(route.maxBodyBytes());
        return head;
    }

    private Caller identify(ApiRequest.Head head) {
        return allowed(head, authenticator.identify(new ApiRequest(head, new byte[0], Caller.anonymous())));
    }

    private Caller identifyAgain(ApiRequest.Head head, Caller started) {
        return allowed(head, authenticator.identifyAgain(new ApiRequest(head, new byte[0], started)));
    }

    private Caller allowed(ApiRequest.Head head, Caller caller) {
        return reportForbidden(new ApiRequest(head, new byte[0], caller), () -> {
            caller.requireAllowed(head.route());
            return caller;
        });
    }

    private <T> T reportForbidden(ApiRequest request, Supplier<T> step) {
        try {
            return step.get();
        } catch (Problem problem) {
            if (problem.status() == 403) authenticator.onForbidden(request);
            throw problem;
        }
    }

    private ApiResponse invoke(PendingRequest pending, ApiRequest request) {
        ApiResponse response;
        RequestPermits.Permit permit = permit(request);
        try {
            response = reportForbidden(request, () -> request.route().action().handle(request));
        } finally {
            permit.release();
        }
        ApiResponse.Streaming stream = response.stream();
        if (stream == null) return response;
        if (pending.raw.method().equals("HEAD")) {
            stream.close();
            throw Problem.of(405, "method-not-allowed", "This path does not support HEAD. Allowed: GET.")
                    .withHeader("Allow", "GET");
        }
        ApiRequest.Head head = pending.requireHead();
        return response.withStream(new AuthenticatedStream(
                stream, () -> requireSameRights(request.caller(), identifyAgain(head, request.caller()))));
    }

    /** What a stream shows depends on the rights that its caller had at its start. */
    private static void requireSameRights(Caller started, Caller now) {
        if (!now.project().equals(started.project()) || !now.scopes().containsAll(started.scopes()))
            throw Problem.notMember();
    }

    /** Public GET routes need no permit: they answer from memory, or bound their own use of the database. */
    private RequestPermits.Permit permit(ApiRequest request) {
        Route route = request.route();
        if (route.permission() != Permission.PUBLIC) return permitInTurn(request);
        return route.method().equals("GET") ? () -> {} : permits.forPublic();
    }

    private RequestPermits.Permit permitInTurn(ApiRequest request) {
        String project = request.caller().project();
        int count = RequestTurns.turnsOf(request.route());
        RequestPermits.Permit permit = permits.forProject(project);
        try {
            request.turn().takeFrom(() -> turns.take(project, count));
        } catch (Problem late) {
            permit.release();
            throw late;
        }
        return () -> {
            request.turn().end();
            permit.release();
        };
    }

    /**
     * Refuses names that the operator did not allow: a web page whose name was pointed to this server (DNS rebinding)
     * could otherwise send requests that a browser takes for its own. Health checks use any name.
     */
    private void refuseUnknownHost(RawRequest raw, Route route) {
        boolean health = route.path().equals("/healthz") || route.path().equals("/readyz");
        if (!health && !hostAllowed.test(raw.header("host")))
            throw Problem.of(
                    421,
                    "misdirected-request",
                    "This server does not answer for the host name of the request. Use its IP address or localhost, or "
                            + "add the name to the setting allowed-hosts.");
    }

    private static void refuseUnexpectedBody(RawRequest raw, Route route) {
        if (route.maxBodyBytes() == 0 && raw.hasBody())
            throw Problem.of(400, "unexpected-body", "This operation has no body. Leave it out.");
    }

    private static void refuseUnknownParameters(ApiRequest.Head head) {
        if (head.route().queryParameters().contains(Route.ANY_PARAMETER)) return;
        for (String name : head.query().keySet())
            if (!head.route().queryParameters().contains(name))
                throw Problem.of(400, "unknown-parameter", "Unknown query parameter. The field \"errors\" says where.")
                        .withFault(
                                TextCleaner.clean(name, 100),
                                "Allowed parameters: "
                                        + String.join(
                                                ", ", new TreeSet<>(head.route().queryParameters())) + ".");
    }

    private static List<String> decodedSegments(String path) {
        List<String> parts = new ArrayList<>();
        for (String segment : Route.segments(path.startsWith("/") ? path : "/" + path))
            parts.add(Router.decode(segment, true));
        return parts;
    }

    private static Map<String, List<String>> parseQuery(@Nullable String raw) {
        Map<String, List<String>> values = new HashMap<>();
        if (raw == null || raw.isEmpty()) return values;
        for (String pair : raw.split("&", -1)) {
            if (pair.isEmpty()) continue;
            int equals = pair.indexOf('=');
            String name = Router.decode(equals < 0 ? pair : pair.substring(0, equals), false);
            String value = equals < 0 ? "" : Router.decode(pair.substring(equals + 1), false);
            values.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
        }
        return values;
    }

    private static String requestId(RawRequest request) {
        String given = request.headers().getOrDefault(REQUEST_ID_HEADER.toLowerCase(Locale.ROOT), "");
        return REQUEST_ID.matcher(given).matches() ? given : PublicId.format("req", Uuid7.next());
    }

    private ApiResponse complete(PendingRequest pending, ApiResponse response) {
        ApiResponse complete =
                response.withHeader(REQUEST_ID_HEADER, pending.requestId).withSecurityHeaders();
        if (!pending.caller.project().isEmpty())
            complete = complete.withHeaders(authenticator.rateHeaders(pending.caller));
        RawRequest raw = pending.raw;
        Duration took = Duration.ofNanos(System.nanoTime() - pending.beganNanos);
        String method = METHODS.contains(raw.method()) ? raw.method() : "OTHER";
        completionListener.onCompleted(new CompletedRequest(method, pending.path, response.status(), took));
        // The path of the route, not of the caller: a URL may contain a secret, which must not get into the log.
        boolean routine = !logsRequests
                || pending.path.endsWith("z")
                || pending.path.equals("/metrics")
                || pending.path.equals("/ui/{hash}/{file}");
        if (routine)
            accessLog.debug(
                    "request answered method={} path={} status={} ms={}",
                    method,
                    pending.path,
                    response.status(),
                    took.toMillis());
        else
            accessLog.info(
                    "request answered method={} path={} status={} ms={} request={} project={} actor={} from={}",
                    method,
                    pending.path,
                    response.status(),
                    took.toMillis(),
                    pending.requestId,
                    pending.caller.project(),
                    ControlCharacters.escape(pending.caller.actor()),
                    raw.remoteAddress());
        return complete;
    }
}
