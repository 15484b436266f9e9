package io.carillon.engine;

import io.carillon.store.ClaimRequest;
import java.time.Instant;
import java.util.List;

/**
 * Claims what has just come to a lane while the claimer waits for the answer to a large claim of others: one small claim at a time, on a connection of its own.
 * On a node without a flood it sleeps.
 */
final class Newcomers extends Loop {
    private final Claims claims;
    private final LaneBook book;
    private final Node node;
    private final Appetite appetite;
    private final Runnable onUnanswered;
    private volatile boolean hinted;

    /** {@code onUnanswered}: called when a claim failed, which may have committed all the same. */
    Newcomers(Claims claims, LaneBook book, Node node, Appetite appetite, Runnable onUnanswered) {
        super("claim-new", true);
        this.claims = claims;
        this.book = book;
        this.node = node;
        this.appetite = appetite;
        this.onUnanswered = onUnanswered;
    }

    /** A lane in which nothing flowed has new work; mostly the claimer sees to it. */
    void hinted() {
        if (!claims.large()) return;
        hinted = true;
        wake();
    }

    @Override
    void turn() throws InterruptedException {
        if (!hinted) {
            sleep(10_000_000_000L);
            return;
        }
        hinted = false;
        int some = appetite.forNewcomers();
        if (some == 0) return;
        Instant now = node.clock().now();
        List<ClaimRequest.Quota> quotas = book.takeNew(some, now);
        if (!quotas.isEmpty()) claims.claimBeside(quotas, now);
    }

    @Override
    void onFailure(Throwable failure) {
        onUnanswered.run();
    }
}
