package io.carillon.it.race;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.run.Enqueue;
import io.carillon.run.Progress;
import io.carillon.run.RunId;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/** The state in which two statements meet on one row. */
enum RaceSetup {
    /** No runs; two nodes. */
    EMPTY(fixture -> fixture.nodes(RunSpec.HANDLER)),
    WAITING(RaceFixture::runs),
    /** Waiting runs with unique keys; the contested run has the key {@code key}. */
    KEYED(RaceFixture::keyedRuns),
    /** The node {@code OWNER} holds all three runs. */
    CLAIMED(RaceFixture::claimed),
    /** Like {@link #CLAIMED}, but all three runs have a cancel request. */
    CANCEL_ORDERED(RaceSetup::cancelOrdered),
    /** Released by their node although they have a cancel request; not ended yet. */
    CANCEL_DUE(fixture -> {
        cancelOrdered(fixture);
        fixture.database()
                .database()
                .execute("UPDATE carillon.run SET owner = NULL, leased_until = NULL, started_at = NULL,"
                        + " start_by = 'infinity'");
    }),
    /** Like {@link #CLAIMED}, but parked as long-running. */
    PARKED(fixture -> {
        fixture.claimed();
        fixture.storage().runs().markLongRunning(RaceFixture.OWNER, fixture.attempts(RaceCase.Sender.SECOND_BATCH));
    }),
    /** Like {@link #CLAIMED}, but the node was declared dead. */
    ORPHANED(RaceSetup::orphaned),
    /**
     * Like {@link #ORPHANED}, but a minute ago: the second rescue is due, after which the claim records of the node are
     * not needed.
     */
    ORPHANED_A_MINUTE_AGO(fixture -> {
        orphaned(fixture);
        fixture.advance(RaceFixture.MINUTE);
    }),
    /** Claimed under leases without a node; the leases have expired. */
    LEASE_EXPIRED(fixture -> {
        fixture.runs();
        fixture.rememberAttempts(fixture.lease(RaceFixture.OWNER, 9, RaceFixture.TEN));
        fixture.advance(RaceFixture.MINUTE);
    }),
    /** Isolated runs: both nodes that executed them died. */
    ISOLATED(RaceSetup::isolatedRuns),
    /** Like {@link #ISOLATED}, but no live node has their handler. */
    ISOLATED_WITHOUT_HANDLER(fixture -> {
        isolatedRuns(fixture);
        fixture.database().database().execute("UPDATE carillon.node SET handlers = '{other}'");
    }),
    /** {@code OTHER} claimed the contested isolated run alone and died too. */
    ISOLATED_DIED_ALONE(fixture -> {
        isolatedRuns(fixture);
        fixture.rememberAttempts(
                fixture.storage().runs().claimOneIsolated(RaceFixture.OTHER, Set.of(RunSpec.HANDLER)).stream()
                        .toList());
        fixture.storage().nodes().declareDead(RaceFixture.OTHER, 0, "silent");
    }),
    /** Open attempts that wait for a callback, with a retry delay in case they fail. */
    AWAITING(fixture -> {
        fixture.claimed();
        fixture.end(new Transition.AwaitCallback(RaceFixture.MINUTE, "digest", RaceFixture.TEN));
    }),
    /** Like {@link #AWAITING}, but a failure ends them, and the time for the callback is over. */
    AWAITING_EXPIRED(fixture -> {
        fixture.claimed();
        fixture.end(new Transition.AwaitCallback(RaceFixture.TEN, "digest", null));
        fixture.advance(RaceFixture.MINUTE);
    }),
    /** Parked because no node has their handler. */
    NO_HANDLER(fixture -> {
        fixture.runs();
        fixture.claimAll(RaceFixture.OWNER);
        fixture.database().database().execute("UPDATE carillon.node SET handlers = '{other}'");
        fixture.storage().runs().passOn(RaceFixture.OWNER, fixture.attempts(RaceCase.Sender.SECOND_BATCH));
    }),
    DEAD(fixture -> {
        fixture.claimed();
        die(fixture);
    }),
    /** Dead runs with the keys of {@link #KEYED}. */
    DEAD_KEYED(fixture -> {
        fixture.keyedRuns();
        fixture.claimAll(RaceFixture.OWNER);
        die(fixture);
    }),
    /** Waiting runs in a lane whose settings restrict nothing. */
    LANE(fixture -> {
        fixture.runs();
        fixture.storage().lanes().setWeight(RunSpec.MAIL, 2);
    }),
    PAUSED_LANE(fixture -> {
        fixture.runs();
        fixture.storage().lanes().pause(RunSpec.MAIL, "ann", "audit");
    }),
    /** Waiting runs in a lane with a concurrency limit and a rate limit. */
    LIMITED(fixture -> {
        fixture.runs();
        fixture.storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(5).andRate(100, RaceFixture.SECOND));
        fixture.database().database().execute("""
                INSERT INTO carillon.gate (project, kind, key, available_starts, checked_at)
                  VALUES ('default', 'lane', 'mail', 10, carillon.clock())
                """);
    }),
    /** Like {@link #LIMITED}, but all runs are claimed. */
    LIMITED_CLAIMED(fixture -> {
        fixture.runs();
        fixture.storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(5));
        fixture.rememberAttempts(fixture.storage()
                .lanes()
                .claim(RaceFixture.request(RaceCase.Sender.FIRST_BATCH))
                .attempts());
    }),
    /** A lane whose breaker is open and may be probed. */
    BREAKER_OPEN(RaceSetup::breakerOpen),
    /** Like {@link #BREAKER_OPEN}, but the contested run is the probe. */
    BREAKER_PROBED(fixture -> {
        breakerOpen(fixture);
        fixture.rememberAttempts(fixture.storage()
                .lanes()
                .claim(RaceFixture.request(RaceCase.Sender.FIRST))
                .attempts());
    }),
    /** Runs behind a concurrency key with one slot. They were stored before their due time and are due now. */
    GATED(fixture -> {
        fixture.runs(RunSpec.mail().after(RaceFixture.TEN).concurrencyKey("shop", 1));
        fixture.advance(RaceFixture.TEN);
    }),
    /** The contested run passed its gate and is claimed; the others wait behind it. */
    GATE_TAKEN(fixture -> {
        fixture.runs(RunSpec.mail().concurrencyKey("shop", 1));
        fixture.storage().gates().promote(List.of(RaceFixture.SHOP));
        fixture.claimAll(RaceFixture.OWNER);
    }),
    /** Runs behind a rate key. */
    RATED(fixture -> fixture.runs(RunSpec.mail().rateKey("shop", 2, RaceFixture.TEN))),
    /** Claimed workflows that wait for a signal, which was sent. */
    SIGNAL_SENT(RaceFixture::awaitingSignal),
    /** Like {@link #SIGNAL_SENT}, and parked. */
    SIGNAL_PARKED(fixture -> {
        fixture.awaitingSignal();
        fixture.end(new Transition.Snooze(RaceFixture.MINUTE));
    }),
    /** Workflows with a step to undo, which wait for a minute. */
    UNDO_PARKED(fixture -> fixture.undoable(RaceFixture.MINUTE)),
    /** Like {@link #UNDO_PARKED}, and ready. */
    UNDO_READY(fixture -> fixture.undoable(Duration.ZERO)),
    /** Claimed workflows that await a run which does not exist. */
    RUN_AWAITED(RaceFixture::awaitingRun),
    /** Runs that wait for a run that has ended, and may execute. */
    WAIT_OVER(fixture -> fixture.waiting(Enqueue.OnFailure.RUN_ANYWAY)),
    /** Runs that are to be cancelled, because the run that they wait for did not succeed. */
    WAIT_FAILED(fixture -> fixture.waiting(Enqueue.OnFailure.CANCEL)),
    /** The partitions of today and yesterday exist, also after a race has removed old ones. */
    PARTITIONS(fixture -> fixture.storage().maintenance().ensurePartitions(0)),
    /** An event that no snapshot contains. */
    EVENT_PUBLISHED(fixture -> fixture.publish(RaceEventCases.FIRST)),
    /** Like {@link #EVENT_PUBLISHED}, after five days, and with two older snapshots. */
    OLD_SNAPSHOTS(fixture -> {
        fixture.database().database().execute("""
                INSERT INTO carillon.event_snapshot (snapshot, transactions) VALUES (1, '3:3:'), (2, '3:3:')
                """);
        fixture.advance(Duration.ofDays(5));
        fixture.publish(RaceEventCases.FIRST);
    }),
    /** A subscription with two events behind its cursor. */
    SUBSCRIBED(RaceFixture::subscribed),
    /** Like {@link #SUBSCRIBED}, but without a cursor of its own: the events are behind the place of all. */
    SUBSCRIBED_AT_PLACE(fixture -> {
        fixture.subscribed();
        fixture.joined();
    }),
    /** Like {@link #SUBSCRIBED_AT_PLACE}, but the place is behind the events, and the cursor has reached it. */
    SUBSCRIPTION_CAUGHT_UP(fixture -> {
        fixture.subscribed();
        fixture.database().database().execute("""
                UPDATE carillon.event_dispatch SET snapshot = 1;
                UPDATE carillon.event_cursor SET snapshot = 1;
                """);
        fixture.readPlace();
    }),
    /** Claimed ticks that publish an event. */
    PUBLISHING_TICKS(fixture -> {
        fixture.runs();
        fixture.database().database().execute("""
                UPDATE carillon.run SET target_name = 'carillon.publish', payload = convert_to(
                  '{"schedule":"s","topic":"orders","type":"order.noted","codec":"json","data":"MQ=="}', 'UTF8')
                """);
        fixture.claimAll(RaceFixture.OWNER);
    }),
    SUBSCRIPTION_PAUSED(fixture -> {
        fixture.subscribed();
        fixture.storage().events().pause(RaceFixture.PROJECT, RaceEventCases.NAME, "audit");
    }),
    /** Like {@link #SUBSCRIBED}, with a replay that has reached its end. */
    REPLAY_ENDED(fixture -> {
        fixture.subscribed();
        fixture.database().database().execute("""
                INSERT INTO carillon.event_cursor (project, name, replay, snapshot, seq, ends_at_snapshot)
                SELECT project, name, 7, 1, 9223372036854775807, 1 FROM carillon.event_subscription
                """);
    }),
    /** The node {@code OWNER} has the lease of a relay, whose rejected event an operator has decided to send. */
    RELAY_LEASED(RaceRelayCases::leased),
    /** Like {@link #RELAY_LEASED}, but the lease has ended. */
    RELAY_LEASE_ENDED(fixture -> {
        RaceRelayCases.leased(fixture);
        fixture.advance(RaceFixture.MINUTE);
    }),
    /** A partition of a source that a record blocks, with an unpublished record before it. */
    SOURCE_BLOCKED(fixture -> {
        fixture.nodes();
        RaceRelayCases.blocked(fixture.storage());
    }),
    /** Two schedules with an interval of ten seconds; two ticks of each are due. */
    TICKS(fixture -> fixture.schedules(ScheduleSpec.every(RaceFixture.TEN), Duration.ofSeconds(25))),
    /** Like {@link #TICKS}, but after two hours without a node: late ticks, and instants that were never planned. */
    LATE_TICKS(fixture -> fixture.schedules(ScheduleSpec.every(RaceFixture.TEN), Duration.ofHours(2))),
    PAUSED_SCHEDULE(fixture -> {
        fixture.schedules(ScheduleSpec.every(RaceFixture.TEN), Duration.ofSeconds(25));
        fixture.storage()
                .schedules()
                .pause(RaceFixture.PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        fixture.advance(Duration.ofHours(1));
    }),
    /** A schedule with an adaptive interval that is due for adaptation, and another one with a fixed interval. */
    ADAPTIVE(fixture -> {
        fixture.schedules(
                ScheduleSpec.of(When.adaptive(RaceFixture.TEN, Duration.ofHours(1))),
                ScheduleSpec.every(RaceFixture.TEN).named("aside"),
                RaceFixture.TEN);
        fixture.planAhead();
    }),
    /** Two schedules in a time zone, planned by older rules with the same instants; a minute of each has passed. */
    ZONED(fixture -> {
        fixture.schedules(ScheduleSpec.of(When.cron("* * * * *", "Europe/Paris")), Duration.ofSeconds(90));
        fixture.database().database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
    }),
    /** The first tick waits at the gate of its schedule and is due. */
    OVERLAP_FREE(fixture -> fixture.overlapping(OverlapPolicy.SKIP)),
    OVERLAP_SKIP(fixture -> fixture.overlapped(OverlapPolicy.SKIP)),
    OVERLAP_QUEUE(fixture -> fixture.overlapped(OverlapPolicy.QUEUE_ALL)),
    OVERLAP_CANCEL(fixture -> fixture.overlapped(OverlapPolicy.CANCEL_PREVIOUS)),
    /** The first tick waits for its next attempt when the second tick is due. */
    OVERLAP_CANCEL_IDLE(fixture -> {
        fixture.started(OverlapPolicy.CANCEL_PREVIOUS);
        fixture.end(new Transition.Retry(RaceFixture.SECOND, "not now", false));
        fixture.advance(RaceFixture.TEN);
    }),
    /** Statistics of a minute of an hour that has ended, and of that hour. */
    STATS(fixture -> {
        fixture.storage().stats().write(RaceFixture.stats(RaceCase.Sender.FIRST_BATCH, 1));
        fixture.advance(Duration.ofHours(2));
        fixture.storage().stats().computeHours();
    }),
    /** Expired rows of all kinds. */
    LEFTOVERS(RaceSetup::leftovers),
    /** The planning token, held by {@code OTHER} until some time ago. */
    TOKEN(fixture -> {
        fixture.nodes(RunSpec.HANDLER);
        fixture.storage().plans().acquireToken(RaceFixture.OTHER, RaceFixture.SECOND);
        fixture.advance(RaceFixture.TEN);
    });

    @SuppressWarnings("ImmutableEnumChecker") // writes to the database only
    private final Consumer<RaceFixture> prepare;

    RaceSetup(Consumer<RaceFixture> prepare) {
        this.prepare = prepare;
    }

    RaceFixture prepare(PostgresStoreFixture storeFixture) {
        RaceFixture fixture = new RaceFixture(storeFixture);
        prepare.accept(fixture);
        return fixture;
    }

    private static void orderCancels(RaceFixture fixture) {
        for (RunId run : RaceFixture.RUNS) fixture.storage().runAdmin().cancel(RaceFixture.PROJECT, run, "enough");
    }

    private static void cancelOrdered(RaceFixture fixture) {
        fixture.claimed();
        orderCancels(fixture);
    }

    private static void orphaned(RaceFixture fixture) {
        fixture.claimed();
        fixture.storage().nodes().declareDead(RaceFixture.OWNER, 0, "silent");
    }

    private static void isolatedRuns(RaceFixture fixture) {
        fixture.claimed();
        fixture.declareDeadTwice(RaceFixture.OWNER);
        for (RaceCase.Sender sender : List.of(RaceCase.Sender.FIRST, RaceCase.Sender.SECOND))
            fixture.storage().nodes().register(RaceFixture.info(RaceFixture.newNode(sender), RunSpec.HANDLER));
    }

    private static void die(RaceFixture fixture) {
        fixture.end(new Transition.MarkDead("no"));
        fixture.advance(RaceFixture.SECOND);
    }

    /** Prepares a lane that contains only the contested run, because a probe takes any run of its lane. */
    private static void breakerOpen(RaceFixture fixture) {
        fixture.nodes(RunSpec.HANDLER);
        fixture.storage().newRuns().enqueue(List.of(RunSpec.mail().run(RaceFixture.CONTESTED)));
        fixture.storage()
                .lanes()
                .reportOutcomes(RaceFixture.OWNER, List.of(new LaneOutcomes(RunSpec.MAIL, 0, 20, false)));
        fixture.advance(RaceFixture.MINUTE);
    }

    private static void leftovers(RaceFixture fixture) {
        fixture.claimed();
        for (RunId run : RaceFixture.RUNS)
            fixture.storage()
                    .nodes()
                    .recordHeartbeat(
                            RaceFixture.OWNER,
                            1,
                            List.of(new ProgressUpdate(RaceFixture.PROJECT, run, 1, new Progress(1, 2))));
        orderCancels(fixture);
        fixture.end(new Transition.AwaitCallback(RaceFixture.MINUTE, "digest", RaceFixture.TEN));
        orderCancels(fixture);
        fixture.storage()
                .lanes()
                .reportOutcomes(RaceFixture.OWNER, List.of(new LaneOutcomes(RunSpec.MAIL, 1, 0, true)));
        fixture.storage().nodes().retire(RaceFixture.OWNER);
        fixture.storage().nodes().rescue(3);
        fixture.advance(RaceFixture.MINUTE);
        fixture.storage().nodes().rescue(3);
        fixture.database().database().execute("""
                INSERT INTO carillon.claim_record SELECT '00000000-0000-7000-8000-0000000000ff', n, '{default}', '{}'
                  FROM generate_series(1, 3) n;
                INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures,
                                                    recorded_at)
                  SELECT 'default', md5('gone')::uuid, n, 'charge', 'step', md5('node')::uuid, 1, 0, carillon.clock()
                    FROM generate_series(0, 2) n;
                INSERT INTO carillon.workflow_signal (project, run_id, send_id, id, name, codec, value)
                  SELECT 'default', md5('gone')::uuid, n, md5('call')::uuid, 'approval', 'json', '1'
                    FROM generate_series(0, 2) n;
                INSERT INTO carillon.unique_key_window
                  SELECT 'default', 'mail', k, '%s', carillon.clock() + interval '1 min'
                  FROM unnest('{left,key,right}'::text[]) AS k;
                INSERT INTO carillon.gate (project, kind, key, passed_unclaimed, recent_starts, promoter_id, checked_at)
                VALUES ('default', 'rate', 'rate:10000:shop', 0, '{}', '%s', carillon.clock())
                """.formatted(RaceFixture.CONTESTED.value(), UUID.randomUUID()));
        fixture.advance(Duration.ofDays(2));
    }
}
