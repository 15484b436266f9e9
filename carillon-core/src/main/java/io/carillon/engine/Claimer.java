package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.store.ClaimRequest;
import io.carillon.store.HeldRun;
import io.carillon.store.LaneDue;
import io.carillon.store.LaneStore;
import io.carillon.store.Look;
import io.carillon.store.RunStore;
import io.carillon.store.Storage;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes due runs, as many as the node can soon execute, and lays them in the ready queue. It sleeps until the next run it knows of is ready, never longer
 * than the poll interval: a hint that was lost costs at most that.
 */
final class Claimer extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Claimer.class);
    private static final long ALONE_NANOS = Duration.ofMillis(100).toNanos();
    /** Runs that come due one by one are worth waiting this long for company: a claim costs the same for one as for ten. */
    private static final long GATHER_NANOS = Duration.ofMillis(2).toNanos();

    /** A scan of so many lanes takes about a hundredth of a second. */
    private static final int SCAN_STEPS = 1_000;

    private static final long RECONCILE_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long FIRST_REPEAT_NANOS = Duration.ofSeconds(1).toNanos();

    private final RunStore runs;
    private final LaneStore lanes;
    private final Claims claims;
    private final LaneBook book;
    private final Node node;
    private final Appetite appetite;
    private final Waking.Recruiter recruiter;
    private final Waking.PollPace pace;
    private final BooleanSupplier hearing;
    private volatile boolean claiming = true;
    private volatile boolean lookNow = true;
    private volatile boolean hinted;
    private boolean servedNew;
    /** New work was named when this node could take none: it is asked for before the flood when it can. */
    private boolean owedNew;

    /** Whether runs wait to be tried alone, as far as this node knows. */
    private boolean suspects;

    private final Claims.Isolation isolation;

    private boolean took;
    private boolean thin;
    private final LongAdder looks = new LongAdder();
    private final LongAdder lookNanos = new LongAdder();
    private volatile Consumer<Set<Lane>> onBroken = lanes -> {};
    private volatile Consumer<Boolean> onGates = any -> {};
    private long lastLook = System.nanoTime() - Duration.ofHours(1).toNanos();
    /** From the very beginning: finds what committed late and whose hint was lost. */
    private final Rarely sweeps = new Rarely(Duration.ofSeconds(3));
    /** From lane to lane: finds those that a long backlog hides. */
    private final Rarely scans = new Rarely(Duration.ofSeconds(5));
    /** Whether the last look saw less than comes before the next. */
    private boolean hidden;
    /** Behind what the next part of a scan begins; null: none is under way. */
    private @Nullable LaneDue scannedTo;

    private long scanNanos;

    private long lastClaim = lastLook;
    private volatile long lastReconcile = System.nanoTime();
    /** After how long a comparison that failed is repeated: claims without an answer must not wait for long. */
    private long repeatReconcile = FIRST_REPEAT_NANOS;

    private volatile Instant headLow = Instant.MIN;

    Claimer(
            Storage storage,
            Claims claims,
            LaneBook book,
            Node node,
            Appetite appetite,
            Waking.Recruiter recruiter,
            Waking waking) {
        super("claim", false);
        this.runs = storage.runs();
        this.lanes = storage.lanes();
        this.claims = claims;
        this.isolation = claims.new Isolation(appetite);
        this.book = book;
        this.node = node;
        this.appetite = appetite;
        this.recruiter = recruiter;
        this.pace = waking.pace();
        this.hearing = waking::hearing;
    }

    /** Called with each look for the lanes whose breaker is not closed. */
    void onBroken(Consumer<Set<Lane>> action) {
        onBroken = action;
    }

    /** Called with each look: whether some run has a gate. */
    void onGates(Consumer<Boolean> action) {
        onGates = action;
    }

    /** No more claims; what is held goes on. */
    void stopClaiming() {
        claiming = false;
        wake();
    }

    /** Something changed that has no instant of its own: look at the head of the queue, and soon from the very beginning. */
    void lookNow() {
        lookNow = true;
        sweeps.hurry();
        wake();
    }

    /** Look from the very beginning: what was seen before may lie ahead of the clock now. */
    void clockSetBack() {
        headLow = Instant.MIN;
        lookNow();
    }

    /** A lane has new work. */
    void hinted() {
        hinted = true;
        wake();
    }

    /** The longest a lost hint can cost; in a crowd somebody else looks meanwhile. */
    private Duration pause() {
        return node.crowd().stretched(pace.now(), pace.rarest());
    }

    @Override
    void turn() throws InterruptedException {
        // What a claim beside the last large one has got is not held before its answer is in.
        if (System.nanoTime() - lastReconcile > RECONCILE_NANOS && claims.quiet()) reconcile();
        if (isolation.active(claiming)) {
            sleep(ALONE_NANOS);
            return;
        }
        int want = claiming ? appetite.want() : 0;
        if (claimNew(want)) return;
        if (want == 0) {
            if (!hinted || !claiming) sleep(Math.min(pause().toNanos(), recruiter.callAgain()));
            return;
        }
        // Also under a flood: lanes that nobody hinted at, and suspects, are found by looking only.
        if (System.nanoTime() - lastLook >= pause().toNanos()) look();
        if (suspects && isolation.restNanos() <= 0) {
            suspects = isolation.claim(busy());
            if (suspects) {
                took = true;
                return;
            }
        }
        if (scannedTo != null) scan();
        if (gatherNanos() <= 0 && claim(want)) return;
        long sinceLook = System.nanoTime() - lastLook;
        if (lookNow || sinceLook >= pause().toNanos()) {
            look();
            return;
        }
        long untilLook = pause().toNanos() - sinceLook;
        if (suspects) untilLook = Math.min(untilLook, Math.max(0, isolation.restNanos()));
        if (scannedTo != null) untilLook = 0;
        // A hair late rather than early: a claim before the database's clock shows the instant finds nothing.
        long untilReady = node.clock().nanosUntil(book.nextReady()) + 200_000L;
        sleep(Math.min(Math.min(untilLook, recruiter.callAgain()), Math.max(untilReady, Math.max(gatherNanos(), 0))));
    }

    /** Whether this node has ordinary runs, or could have. */
    private boolean busy() {
        return node.holding().size() > 0
                || !book.nextReady().isAfter(node.clock().now());
    }

    /** How long the next claim is to wait for company; a backlog needs none. */
    private long gatherNanos() {
        return thin ? lastClaim + GATHER_NANOS - System.nanoTime() : 0;
    }

    /** What was hinted at does not wait until there is room for more of a flood beside it; every other time, or the flood would wait for it. */
    private boolean claimNew(int want) {
        boolean due = (hinted || (owedNew && want > 0)) && !servedNew && claiming;
        servedNew = false;
        if (!due) return false;
        hinted = false;
        int some = want > 0 ? want : appetite.forNewcomers();
        owedNew = some == 0;
        if (some == 0) return false;
        Instant now = node.clock().now();
        servedNew = claim(book.takeNew(some, now), true, now);
        // The flood beside it is not thin.
        if (servedNew) thin = false;
        // There may be more than was asked for.
        if (servedNew) owedNew = true;
        return servedNew;
    }

    /** Claims from the lanes that are due by the book; false: there are none. */
    private boolean claim(int want) {
        Instant now = node.clock().now();
        return claim(book.take(want, now), false, now);
    }

    private boolean claim(List<ClaimRequest.Quota> quotas, boolean ahead, Instant now) {
        if (quotas.isEmpty()) return false;
        lastClaim = System.nanoTime();
        Claims.Answer answer = claims.claim(quotas, ahead, now);
        thin = answer.exhausted();
        if (answer.got() > 0) took = true;
        // In a crowd, who came too late leaves the field to the others until it would look anyway. Where the last
        // look saw what comes next, and hints are heard, another would say the same.
        if (answer.exhausted()
                && (answer.got() > 0 ? !knowsNext() : !node.crowd().large())) lookNow = true;
        return true;
    }

    private boolean knowsNext() {
        return hearing.getAsBoolean() && book.knowsNext();
    }

    /** A run of this lane has ended; most lanes have no limit, and it means nothing. */
    void left(Lane lane) {
        if (claims.limited(lane)) book.room(lane, node.clock().now());
    }

    private void look() {
        lookNow = false;
        boolean timed = System.nanoTime() - lastLook >= pause().toNanos();
        boolean scanning = hidden && scans.due();
        boolean fromTheStart = !scanning && sweeps.due();
        lastLook = System.nanoTime();
        if (fromTheStart || scanning) book.tidy();
        book.looking();
        Look look = lanes.look(fromTheStart ? Instant.MIN : headLow);
        node.clock().observe(look.now(), lastLook);
        looks.increment();
        lookNanos.add(System.nanoTime() - lastLook);
        if (fromTheStart) sweeps.took(System.nanoTime() - lastLook);
        claims.limited(look.limited());
        book.weigh(look.weights());
        onBroken.accept(look.broken());
        onGates.accept(look.gated());
        headLow = look.lanes().stream()
                .map(due -> due.readyAt())
                .min(Instant::compareTo)
                .orElse(Instant.MAX);
        if (headLow.isAfter(look.now())) headLow = look.now();
        book.looked(claims.own(look.lanes()), look.seenUntil());
        boolean found = took || headLow.isBefore(look.now());
        took = false;
        if (found || timed) pace.looked(found);
        suspects = look.suspects();
        // Before the many that come first, not in the midst of them: then nobody looks.
        hidden = look.seenUntil().isBefore(look.now().plus(pause()));
        if (hidden && scannedTo == null && scans.due()) scan();
    }

    /**
     * A part of a scan, so that a claim waits for no more than that; with a claim after each, so that what was seen first is not worked off before the rest is
     * seen. All parts together also see what a look from the beginning would.
     */
    private void scan() {
        long start = System.nanoTime();
        LaneStore.Part part = lanes.scan(scannedTo, SCAN_STEPS);
        book.seen(claims.own(part.found()));
        scannedTo = part.next();
        long nanos = System.nanoTime() - start;
        scanNanos += nanos;
        if (scannedTo != null) return;
        scans.took(scanNanos);
        sweeps.took(scanNanos);
        scanNanos = 0;
    }

    /** How often this node looked for work. */
    long looks() {
        return looks.sum();
    }

    /** How long that took altogether. */
    Duration looking() {
        return Duration.ofNanos(lookNanos.sum());
    }

    /** A claim may have committed all the same, and what was not passed on is still ours: both go back as soon as the database answers. */
    @Override
    void onFailure(Throwable failure) {
        lastReconcile = longAgo();
    }

    /** Compares what this node owns with what it holds, at once. */
    void reconcileSoon() {
        lastReconcile = longAgo();
        wake();
    }

    private static long longAgo() {
        return System.nanoTime() - RECONCILE_NANOS - 1;
    }

    /**
     * Hands back what the database says is ours and we do not hold: claims whose answer never came. If it fails, claims go on and it is repeated later.
     */
    private void reconcile() {
        lastReconcile = System.nanoTime();
        try {
            UUID owner = node.id();
            boolean all = handBackAll(
                    owner,
                    row -> node.holding()
                            .find(row.run())
                            .filter(one -> one.owner().equals(owner)
                                    && Holding.row(one).equals(row))
                            .isEmpty(),
                    false);
            // The nodes that knew them may be gone.
            claims.forgetStrangers();
            if (all) repeatReconcile = FIRST_REPEAT_NANOS;
            else repeatReconcile();
        } catch (RuntimeException failure) {
            log.warn("rows of this node could not be compared with its attempts; will retry", failure);
            repeatReconcile();
        }
    }

    private void repeatReconcile() {
        lastReconcile = System.nanoTime() - RECONCILE_NANOS + repeatReconcile;
        repeatReconcile = Math.min(2 * repeatReconcile, RECONCILE_NANOS);
    }

    /** For a node that stops: hands back all that the database says is ours, so that nothing is left to rescue. */
    void handBackAll() {
        handBackAll(node.id(), row -> true, true);
    }

    /** False: some of them are locked by other transactions. What this node knows nothing of it never started. */
    private boolean handBackAll(UUID owner, Predicate<HeldRun> which, boolean wait) {
        Set<Held> settled = node.holding().unconfirmed();
        Set<Long> notes = runs.notes(owner);
        List<HeldRun> rows = runs.held(owner).stream().filter(which).toList();
        // Most of them ended between the two looks; the fence leaves those alone.
        int back = runs.handBackRows(owner, rows, node.holding().started(), wait);
        if (back > 0) log.warn("runs handed back that were claimed without an answer runs={}", back);
        // What was locked stays ours: its notes are needed until a later comparison has handed it back.
        if (back < rows.size() && !Collections.disjoint(runs.held(owner), Set.copyOf(rows))) return false;
        node.holding().compared(owner, notes, settled);
        return true;
    }
}
