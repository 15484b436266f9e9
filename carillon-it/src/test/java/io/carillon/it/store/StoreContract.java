package io.carillon.it.store;

import io.carillon.run.Attempt;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Lane;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
import io.carillon.store.EndedAttempt;
import io.carillon.store.GateName;
import io.carillon.store.NodeInfo;
import io.carillon.store.Storage;
import io.carillon.store.WriteResult;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;

/** The base of the contracts of all ports: a fixture, and helpers that tests use on it. */
abstract class StoreContract {
    static final String PROJECT = RunSpec.MAIL.project();
    static final Duration SECOND = Duration.ofSeconds(1);

    abstract StoreFixture fixture();

    @BeforeEach
    void clear() {
        fixture().clear();
    }

    Storage storage() {
        return fixture().storage();
    }

    void advance(Duration by) {
        fixture().clock().advance(by);
    }

    /** Registers a node that has the handler of the mail runs. */
    UUID node() {
        return node(RunSpec.HANDLER);
    }

    UUID node(String... handlers) {
        UUID id = UUID.randomUUID();
        storage().nodes().register(new NodeInfo(id, "n", "host", 1, "1", Set.of(handlers), 50, "notify"));
        setStartedAgo(id, "1 hour");
        return id;
    }

    /** Sets the start time of the node to this interval ago. */
    void setStartedAgo(UUID node, String ago) {
        try (Connection connection = fixture().open();
                PreparedStatement update = connection.prepareStatement(
                        "UPDATE carillon.node SET started_at = carillon.clock() - ?::interval WHERE id = ?")) {
            update.setString(1, ago);
            update.setObject(2, node);
            update.executeUpdate();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    RunId enqueue(RunSpec spec) {
        return storage().inbox().enqueue(List.of(spec.run())).get(0).run();
    }

    List<RunId> enqueue(RunSpec spec, int count) {
        return storage().inbox().enqueue(spec.copies(count)).stream()
                .map(EnqueueResult::run)
                .toList();
    }

    static ClaimRequest.Quota quota(Lane lane, Priority priority, int count) {
        return new ClaimRequest.Quota(lane, priority, count, Instant.MIN);
    }

    List<Attempt> claim(UUID node, ClaimRequest.Quota... quotas) {
        return storage()
                .runs()
                .claim(new ClaimRequest(node, List.of(quotas), Set.of(), null, 0))
                .attempts();
    }

    /** Claims runs of normal priority from the lane {@code mail}. */
    List<Attempt> claim(UUID node, int count) {
        return claim(node, quota(RunSpec.MAIL, Priority.NORMAL, count));
    }

    Attempt claimOne(UUID node) {
        List<Attempt> claimed = claim(node, 1);
        if (claimed.size() != 1) throw new AssertionError("Expected one claimed run: " + claimed);
        return claimed.get(0);
    }

    /**
     * Declares this node dead, lets another node claim its runs, and declares that one dead too. Afterwards the runs
     * wait for isolation.
     */
    void declareDeadTwice(UUID node) {
        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(3);
        UUID next = node();
        if (claim(next, 9).isEmpty()) throw new AssertionError("No run became claimable after the first death.");
        storage().nodes().declareDead(next, 0, "test");
        storage().nodes().sweep(3);
    }

    /** Claims runs for a process without a node, with a lease per run. */
    List<Attempt> lease(UUID owner, int count, Duration lease) {
        ClaimRequest.Quota quota = quota(RunSpec.MAIL, Priority.NORMAL, count);
        return storage()
                .runs()
                .claim(ClaimRequest.leased(owner, List.of(quota), Set.of(), lease))
                .attempts();
    }

    /** Promotes all runs that can pass their gates now, as a node does. */
    List<Lane> passGates() {
        Set<GateName> gates =
                new LinkedHashSet<>(storage().gates().findArrivals(1_000).gates());
        gates.addAll(storage().gates().findOpenGates(null, 1_000).gates());
        return storage().gates().promote(gates).lanes();
    }

    static EndedAttempt ended(Attempt attempt, Transition transition) {
        return new EndedAttempt(attempt, transition, SECOND, null);
    }

    WriteResult apply(UUID owner, Attempt attempt, Transition transition) {
        return storage()
                .runs()
                .apply(owner, List.of(ended(attempt, transition)))
                .get(0);
    }

    static Transition complete() {
        return new Transition.Complete(null);
    }

    static Payload bytes(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8), "json");
    }

    Run get(RunId run) {
        return storage().runAdmin().get(PROJECT, run).orElseThrow();
    }
}
