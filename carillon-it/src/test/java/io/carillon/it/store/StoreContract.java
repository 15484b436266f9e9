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
import io.carillon.store.Ended;
import io.carillon.store.GateName;
import io.carillon.store.NodeInfo;
import io.carillon.store.Storage;
import io.carillon.store.Verdict;
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

/** What the contracts of all ports share: a bench, and short words for what they do to it. */
abstract class StoreContract {
    static final String PROJECT = Order.MAIL.project();
    static final Duration SECOND = Duration.ofSeconds(1);

    abstract StoreBench bench();

    @BeforeEach
    void clear() {
        bench().clear();
    }

    Storage storage() {
        return bench().storage();
    }

    void advance(Duration by) {
        bench().clock().advance(by);
    }

    /** Registers a node that knows the mail's handler. */
    UUID node() {
        return node(Order.HANDLER);
    }

    UUID node(String... handlers) {
        UUID id = UUID.randomUUID();
        storage().nodes().register(new NodeInfo(id, "n", "host", 1, "1", Set.of(handlers), 50, "notify"));
        started(id, "1 hour");
        return id;
    }

    /** This node was started so long ago. */
    void started(UUID node, String ago) {
        try (Connection connection = bench().open();
                PreparedStatement update = connection.prepareStatement(
                        "UPDATE carillon.node SET started_at = carillon.clock() - ?::interval WHERE id = ?")) {
            update.setString(1, ago);
            update.setObject(2, node);
            update.executeUpdate();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    RunId enqueue(Order order) {
        return storage().inbox().enqueue(List.of(order.run())).get(0).run();
    }

    List<RunId> enqueue(Order order, int count) {
        return storage().inbox().enqueue(order.times(count)).stream()
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

    /** Claims mails of normal priority. */
    List<Attempt> claim(UUID node, int count) {
        return claim(node, quota(Order.MAIL, Priority.NORMAL, count));
    }

    Attempt claimOne(UUID node) {
        List<Attempt> claimed = claim(node, 1);
        if (claimed.size() != 1) throw new AssertionError("expected one run to claim: " + claimed);
        return claimed.get(0);
    }

    /** What this node holds shares its death, and is claimed again and shares another: afterwards it waits for isolation. */
    void diesTwice(UUID node) {
        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(3);
        UUID next = node();
        if (claim(next, 9).isEmpty()) throw new AssertionError("nothing went back to the ordinary runs");
        storage().nodes().declareDead(next, 0, "test");
        storage().nodes().sweep(3);
    }

    /** A claim without a node, held for a while. */
    List<Attempt> lease(UUID owner, int count, Duration lease) {
        ClaimRequest.Quota quota = quota(Order.MAIL, Priority.NORMAL, count);
        return storage()
                .runs()
                .claim(ClaimRequest.leased(owner, List.of(quota), Set.of(), lease))
                .attempts();
    }

    /** Lets through every gate what can pass now, as a gatekeeper does. */
    List<Lane> passGates() {
        Set<GateName> gates =
                new LinkedHashSet<>(storage().gates().arrive(1_000).gates());
        gates.addAll(storage().gates().open(null, 1_000).gates());
        return storage().gates().pass(gates).lanes();
    }

    static Ended ended(Attempt attempt, Transition transition) {
        return new Ended(attempt, transition, SECOND, null);
    }

    Verdict apply(UUID owner, Attempt attempt, Transition transition) {
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
        return storage().runDesk().get(PROJECT, run).orElseThrow();
    }
}
