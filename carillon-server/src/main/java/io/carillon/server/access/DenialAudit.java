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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Writes refused requests to the audit log: of each project, 20 at once and then one per minute on each node, so that
 * a client without a key cannot fill the table. An entry counts the refused requests before it that have none. Requests
 * with a key that does not exist are recorded in the project {@value Caller#ADMIN_PROJECT}.
 *
 * <p>Another thread writes the entries, so that no response waits for the database, and its time does not reveal
 * whether the key exists. If too many wait, further ones are left out.
 */
public final class DenialAudit {
    private static final Logger log = LoggerFactory.getLogger(DenialAudit.class);
    private static final double PER_SECOND = 1.0 / 60;
    private static final double BURST = 20;
    static final int MAX_QUEUED = 200;
    private static final String UNAUTHENTICATED = "request.unauthenticated";
    private static final String FORBIDDEN = "request.forbidden";

    private final Transactions transactions;
    private final AuditRepository audit;
    private final ApiKeyRepository keys;
    private final KeyIssuer issuer;
    private final RateLimiter limiter = new RateLimiter();
    /** The number of refused requests without an entry. The number of projects bounds the size. */
    private final Map<String, AtomicLong> omitted = new ConcurrentHashMap<>();

    private final BlockingQueue<Refusal> queue = new ArrayBlockingQueue<>(MAX_QUEUED);
    private final AtomicLong dropped = new AtomicLong();

    /**
     * What the entry of a refused request needs: neither its body nor its headers, which would use memory while it
     * waits.
     *
     * @param caller null if the request has no valid key
     * @param keyId the id of the invalid key; null if the caller is known, or sent no key
     */
    private record Refusal(
            String object,
            String address,
            String requestId,
            @Nullable Caller caller,
            @Nullable String keyId) {
        private static Refusal of(ApiRequest request, @Nullable Caller caller, @Nullable String keyId) {
            return new Refusal(
                    request.route().method() + " " + request.route().path(),
                    request.remoteAddress(),
                    request.requestId(),
                    caller,
                    keyId);
        }
    }

    public DenialAudit(Transactions transactions, AuditRepository audit, ApiKeyRepository keys, KeyIssuer issuer) {
        this.issuer = issuer;
        this.transactions = transactions;
        this.audit = audit;
        this.keys = keys;
    }

    /** Records a request without a valid key. */
    void unauthenticated(ApiRequest request, String bearer) {
        // The project of the key is not known without the database, which invented keys must not reach.
        String keyId = PlaintextApiKey.parse(bearer)
                .map(PlaintextApiKey::id)
                .filter(issuer::isIssued)
                .orElse(null);
        submit(Refusal.of(request, null, keyId), UNAUTHENTICATED, Caller.ADMIN_PROJECT);
    }

    /** Records a request that its caller was not allowed to make. */
    void forbidden(ApiRequest request) {
        Caller caller = request.caller();
        submit(Refusal.of(request, caller, null), FORBIDDEN, recordedIn(caller));
    }

    /** Waits for a refused request and writes it. A thread of the server calls this method again and again. */
    public void runOnce() throws InterruptedException {
        Refusal refusal = queue.take();
        try {
            write(refusal);
        } catch (RuntimeException failure) {
            log.warn("could not write a refused request to the audit log", failure);
        }
    }

    /** Returns how many refused requests got no entry because too many waited. */
    public long dropped() {
        return dropped.get();
    }

    private void submit(Refusal refusal, String action, String project) {
        if (queue.offer(refusal)) return;
        omitted(action, project).incrementAndGet();
        dropped.incrementAndGet();
    }

    private AtomicLong omitted(String action, String project) {
        return omitted.computeIfAbsent(action + " " + project, name -> new AtomicLong());
    }

    /** A user may have chosen no project. */
    private static String recordedIn(Caller caller) {
        return caller.project().isEmpty() ? Caller.ADMIN_PROJECT : caller.project();
    }

    private void write(Refusal refusal) {
        Caller caller = refusal.caller();
        if (caller != null) {
            write(refusal, FORBIDDEN, recordedIn(caller), caller.actor());
            return;
        }
        Optional<String> project =
                Optional.ofNullable(refusal.keyId()).flatMap(keys::findHash).map(ApiKeyRepository.StoredHash::project);
        write(
                refusal,
                UNAUTHENTICATED,
                project.orElse(Caller.ADMIN_PROJECT),
                project.isPresent() ? "key " + refusal.keyId() : "unknown");
    }

    private void write(Refusal refusal, String action, String project, String actor) {
        AtomicLong before = omitted(action, project);
        if (limiter.tryAcquire(action + " " + project, PER_SECOND, BURST).isPresent()) {
            before.incrementAndGet();
            return;
        }
        byte[] detail = Json.bytes(JsonNodeFactory.instance
                .objectNode()
                .put("address", refusal.address())
                .put("omitted", before.getAndSet(0)));
        AuditRepository.Change entry = new AuditRepository.Change(
                actor, action, refusal.object(), new String(detail, StandardCharsets.UTF_8), refusal.requestId());
        transactions.runInProject(project, session -> {
            audit.write(session, project, entry);
            return entry;
        });
    }
}
