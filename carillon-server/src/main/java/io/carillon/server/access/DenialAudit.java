package io.carillon.server.access;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.Transactions;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Writes refused requests to the audit log: of each project, 20 at once and then one per minute on each node, so that
 * a client without a key cannot fill the table. An entry counts the refused requests before it that have none. Requests
 * with a key that does not exist are recorded in the project {@value Caller#ADMIN_PROJECT}.
 */
public final class DenialAudit {
    private static final Logger log = LoggerFactory.getLogger(DenialAudit.class);
    private static final double PER_SECOND = 1.0 / 60;
    private static final double BURST = 20;
    private static final int MAX_QUEUED = 200;

    private final Transactions transactions;
    private final AuditRepository audit;
    private final ApiKeyRepository keys;
    private final RateLimiter limiter = new RateLimiter();
    /** The number of refused requests without an entry. The number of projects bounds the size. */
    private final Map<String, AtomicLong> omitted = new ConcurrentHashMap<>();

    /** Another thread writes, so that the time of a response does not reveal whether the key exists. */
    private final BlockingQueue<Runnable> queue = new ArrayBlockingQueue<>(MAX_QUEUED);

    public DenialAudit(Transactions transactions, AuditRepository audit, ApiKeyRepository keys) {
        this.transactions = transactions;
        this.audit = audit;
        this.keys = keys;
    }

    /** Records a request without a valid key. */
    void unauthenticated(ApiRequest request, String bearer) {
        submit(() -> {
            Optional<PlaintextApiKey> named = PlaintextApiKey.parse(bearer);
            Optional<String> project =
                    named.flatMap(key -> keys.findHash(key.id()).map(ApiKeyRepository.StoredHash::project));
            String actor = project.isPresent() ? "key " + named.orElseThrow().id() : "unknown";
            write(request, project.orElse(Caller.ADMIN_PROJECT), actor, "request.unauthenticated");
        });
    }

    /** Records a request that its caller was not allowed to make. */
    void forbidden(ApiRequest request) {
        Caller caller = request.caller();
        submit(() -> write(request, caller.project(), caller.actor(), "request.forbidden"));
    }

    /** Waits for a refused request and writes it. A thread of the server calls this method again and again. */
    public void runOnce() throws InterruptedException {
        Runnable writing = queue.take();
        try {
            writing.run();
        } catch (RuntimeException failure) {
            log.warn("could not write a refused request to the audit log", failure);
        }
    }

    /** Leaves out the entry if too many wait. */
    private void submit(Runnable writing) {
        if (!queue.offer(writing)) log.debug("refused request without an audit entry: too many wait");
    }

    private void write(ApiRequest request, String project, String actor, String action) {
        String bucket = action + " " + project;
        AtomicLong before = omitted.computeIfAbsent(bucket, name -> new AtomicLong());
        if (limiter.tryAcquire(bucket, PER_SECOND, BURST).isPresent()) {
            before.incrementAndGet();
            return;
        }
        byte[] detail = Json.bytes(JsonNodeFactory.instance
                .objectNode()
                .put("address", request.remoteAddress())
                .put("omitted", before.getAndSet(0)));
        AuditRepository.Change entry = new AuditRepository.Change(
                actor,
                action,
                request.route().method() + " " + request.route().path(),
                new String(detail, StandardCharsets.UTF_8),
                request.requestId());
        transactions.runInProject(project, session -> {
            audit.write(session, project, entry);
            return entry;
        });
    }
}
