package io.carillon.it.store;

import io.carillon.run.Limits;
import io.carillon.run.Progress;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.LaneLoad;
import io.carillon.store.ProgressNote;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/** The state in which two statements meet on one row. */
enum RaceScene {
    /** No run yet; two nodes. */
    EMPTY(stage -> stage.nodes(Order.HANDLER)),
    WAITING(RaceStage::runs),
    /** Waiting runs with uniqueness keys; that of the contested run is {@code key}. */
    KEYED(RaceStage::keyedRuns),
    /** All three are held by the node {@code OWNER}. */
    CLAIMED(RaceStage::claimed),
    /** As {@link #CLAIMED}, and somebody asked all three to stop. */
    CANCEL_ORDERED(RaceScene::cancelOrdered),
    /** Let go although they had been asked to stop; nobody has ended them yet. */
    CANCEL_DUE(stage -> {
        cancelOrdered(stage);
        stage.database()
                .database()
                .execute(
                        "UPDATE carillon.run SET owner = NULL, leased_until = NULL, started_at = NULL, start_by = 'infinity'");
    }),
    /** As {@link #CLAIMED}, and parked because they run long. */
    PARKED(stage -> {
        stage.claimed();
        stage.storage().runs().parkRunning(RaceStage.OWNER, stage.attempts(RaceCase.Hand.SECOND_BATCH));
    }),
    /** As {@link #CLAIMED}, and the node was declared dead. */
    ORPHANED(RaceScene::orphaned),
    /** As {@link #ORPHANED}, a minute ago: the second sweep is due, and what the node noted is not needed after it. */
    ORPHANED_LONG(stage -> {
        orphaned(stage);
        stage.advance(RaceStage.MINUTE);
    }),
    /** Claimed under leases of their own, which have run out. */
    LEASE_EXPIRED(stage -> {
        stage.runs();
        stage.keep(stage.lease(RaceStage.OWNER, 9, RaceStage.TEN));
        stage.advance(RaceStage.MINUTE);
    }),
    /** They shared the deaths of two nodes and wait for isolation. */
    SUSPECT(RaceScene::suspects),
    /** As {@link #SUSPECT}, and no living node has their handler any more. */
    SUSPECT_WITHOUT_HANDLER(stage -> {
        suspects(stage);
        stage.database().database().execute("UPDATE carillon.node SET handlers = '{other}'");
    }),
    /** The contested suspect was claimed alone by {@code OTHER}, which died too. */
    ACCUSED(stage -> {
        suspects(stage);
        stage.keep(stage.storage().runs().claimSuspect(RaceStage.OTHER, Set.of(Order.HANDLER)).stream()
                .toList());
        stage.storage().nodes().declareDead(RaceStage.OTHER, 0, "silent");
    }),
    /** Open for somebody outside, with a pause in case they fail. */
    AWAITING(stage -> {
        stage.claimed();
        stage.end(new Transition.Await(RaceStage.MINUTE, "digest", RaceStage.TEN));
    }),
    /** As {@link #AWAITING}, but a failure ends them; their time is over. */
    AWAITED_IN_VAIN(stage -> {
        stage.claimed();
        stage.end(new Transition.Await(RaceStage.TEN, "digest", null));
        stage.advance(RaceStage.MINUTE);
    }),
    /** Parked because no node knows their handler. */
    NO_HANDLER(stage -> {
        stage.runs();
        stage.claimAll(RaceStage.OWNER);
        stage.database().database().execute("UPDATE carillon.node SET handlers = '{other}'");
        stage.storage().runs().passOn(RaceStage.OWNER, stage.attempts(RaceCase.Hand.SECOND_BATCH));
    }),
    DEAD(stage -> {
        stage.claimed();
        die(stage);
    }),
    /** Dead runs with the keys of {@link #KEYED}. */
    DEAD_KEYED(stage -> {
        stage.keyedRuns();
        stage.claimAll(RaceStage.OWNER);
        die(stage);
    }),
    /** A lane with settings that hold nothing back, and waiting runs in it. */
    LANE(stage -> {
        stage.runs();
        stage.storage().lanes().weigh(Order.MAIL, 2);
    }),
    PAUSED_LANE(stage -> {
        stage.runs();
        stage.storage().lanes().pause(Order.MAIL, "ann", "audit");
    }),
    /** A lane with a limit of both kinds, and waiting runs in it. */
    LIMITED(stage -> {
        stage.runs();
        stage.storage().lanes().limit(Order.MAIL, Limits.running(5).andRate(100, RaceStage.SECOND));
        stage.database().database().execute("""
                INSERT INTO carillon.gate (project, kind, key, tokens, refilled_at) VALUES ('default', 'lane', 'mail', 10, carillon.clock())
                """);
    }),
    /** As {@link #LIMITED}, and all are claimed. */
    LIMITED_CLAIMED(stage -> {
        stage.runs();
        stage.storage().lanes().limit(Order.MAIL, Limits.running(5));
        stage.keep(stage.storage()
                .lanes()
                .claim(RaceStage.request(RaceCase.Hand.FIRST_BATCH))
                .attempts());
    }),
    /** A lane whose open breaker may be probed. */
    BREAKER_OPEN(RaceScene::breakerOpen),
    /** As {@link #BREAKER_OPEN}, and the contested run is the probe. */
    BREAKER_PROBED(stage -> {
        breakerOpen(stage);
        stage.keep(stage.storage()
                .lanes()
                .claim(RaceStage.request(RaceCase.Hand.FIRST))
                .attempts());
    }),
    /** Behind a concurrency key with one place, not arrived yet when stored, arrived now. */
    GATED(stage -> {
        stage.runs(Order.mail().after(RaceStage.TEN).concurrencyKey("shop", 1));
        stage.advance(RaceStage.TEN);
    }),
    /** The contested run is through its gate and claimed; the others wait behind it. */
    GATE_TAKEN(stage -> {
        stage.runs(Order.mail().concurrencyKey("shop", 1));
        stage.storage().gates().pass(List.of(RaceStage.SHOP));
        stage.claimAll(RaceStage.OWNER);
    }),
    /** Behind a rate key. */
    RATED(stage -> stage.runs(Order.mail().rateKey("shop", 2, RaceStage.TEN))),
    /** Two schedules of ten seconds; two ticks of each are due. */
    TICKS(stage -> stage.schedules(Promise.every(RaceStage.TEN), Duration.ofSeconds(25))),
    /** As {@link #TICKS}, after two hours without a node: late ticks, and a stretch without. */
    LATE_TICKS(stage -> stage.schedules(Promise.every(RaceStage.TEN), Duration.ofHours(2))),
    PAUSED_SCHEDULE(stage -> {
        stage.schedules(Promise.every(RaceStage.TEN), Duration.ofSeconds(25));
        stage.storage()
                .schedules()
                .pause(RaceStage.PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        stage.advance(Duration.ofHours(1));
    }),
    /** A schedule whose interval follows the backlog, beside one of a fixed interval; it is time to look at it. */
    ADAPTIVE(stage -> {
        stage.schedules(
                Promise.of(When.adaptive(RaceStage.TEN, Duration.ofHours(1))),
                Promise.every(RaceStage.TEN).named("aside"),
                RaceStage.TEN);
        stage.planAhead();
    }),
    /** Two schedules in a time zone, planned by older rules that had the same instants; a minute of each has passed. */
    ZONED(stage -> {
        stage.schedules(Promise.of(When.cron("* * * * *", "Europe/Paris")), Duration.ofSeconds(90));
        stage.database().database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
    }),
    /** The first tick is due at the gate of its schedule. */
    OVERLAP_FREE(stage -> stage.overlapping(Overlap.SKIP)),
    OVERLAP_SKIP(stage -> stage.overlapped(Overlap.SKIP)),
    OVERLAP_QUEUE(stage -> stage.overlapped(Overlap.QUEUE_ALL)),
    OVERLAP_CANCEL(stage -> stage.overlapped(Overlap.CANCEL_PREVIOUS)),
    /** The first tick waits for its next attempt when the second one falls due. */
    OVERLAP_CANCEL_IDLE(stage -> {
        stage.started(Overlap.CANCEL_PREVIOUS);
        stage.end(new Transition.Retry(RaceStage.SECOND, "not now", false));
        stage.advance(RaceStage.TEN);
    }),
    /** Rows of all kinds whose time is over. */
    LEFTOVERS(RaceScene::leftovers),
    /** The right to plan, held by {@code OTHER} until a while ago. */
    TOKEN(stage -> {
        stage.nodes(Order.HANDLER);
        stage.storage().plans().lead(RaceStage.OTHER, RaceStage.SECOND);
        stage.advance(RaceStage.TEN);
    });

    @SuppressWarnings("ImmutableEnumChecker") // it writes to the database only
    private final Consumer<RaceStage> prepare;

    RaceScene(Consumer<RaceStage> prepare) {
        this.prepare = prepare;
    }

    RaceStage prepared(PostgresBench bench) {
        RaceStage stage = new RaceStage(bench);
        prepare.accept(stage);
        return stage;
    }

    private static void orderCancels(RaceStage stage) {
        for (RunId run : RaceStage.RUNS) stage.storage().runDesk().cancel(RaceStage.PROJECT, run, "enough");
    }

    private static void cancelOrdered(RaceStage stage) {
        stage.claimed();
        orderCancels(stage);
    }

    private static void orphaned(RaceStage stage) {
        stage.claimed();
        stage.storage().nodes().declareDead(RaceStage.OWNER, 0, "silent");
    }

    private static void suspects(RaceStage stage) {
        stage.claimed();
        stage.diesTwice(RaceStage.OWNER);
        for (RaceCase.Hand hand : List.of(RaceCase.Hand.FIRST, RaceCase.Hand.SECOND))
            stage.storage().nodes().register(RaceStage.info(RaceStage.newcomer(hand), Order.HANDLER));
    }

    private static void die(RaceStage stage) {
        stage.end(new Transition.Die("no"));
        stage.advance(RaceStage.SECOND);
    }

    /** A lane of the contested run alone: a probe takes any one. */
    private static void breakerOpen(RaceStage stage) {
        stage.nodes(Order.HANDLER);
        stage.storage().inbox().enqueue(List.of(Order.mail().run(RaceStage.CONTESTED)));
        stage.storage().lanes().report(RaceStage.OWNER, List.of(new LaneLoad(Order.MAIL, 0, 20)));
        stage.advance(RaceStage.MINUTE);
    }

    private static void leftovers(RaceStage stage) {
        stage.claimed();
        for (RunId run : RaceStage.RUNS)
            stage.storage()
                    .nodes()
                    .beat(RaceStage.OWNER, 1, List.of(new ProgressNote(RaceStage.PROJECT, run, 1, new Progress(1, 2))));
        orderCancels(stage);
        stage.end(new Transition.Await(RaceStage.MINUTE, "digest", RaceStage.TEN));
        orderCancels(stage);
        stage.storage().lanes().report(RaceStage.OWNER, List.of(new LaneLoad(Order.MAIL, 1, 0)));
        stage.storage().nodes().retire(RaceStage.OWNER);
        stage.storage().nodes().sweep(3);
        stage.advance(RaceStage.MINUTE);
        stage.storage().nodes().sweep(3);
        stage.database().database().execute("""
                INSERT INTO carillon.claim_note SELECT '00000000-0000-7000-8000-0000000000ff', n, '{default}', '{}' FROM generate_series(1, 3) n;
                INSERT INTO carillon.key_hold SELECT 'default', 'mail', k, '%s', carillon.clock() + interval '1 min'
                  FROM unnest('{left,key,right}'::text[]) AS k;
                INSERT INTO carillon.gate (project, kind, key, live, starts, driver, refilled_at)
                VALUES ('default', 'rate', 'rate:10000:shop', 0, '{}', '%s', carillon.clock())
                """.formatted(RaceStage.CONTESTED.value(), UUID.randomUUID()));
        stage.advance(Duration.ofDays(2));
    }
}
