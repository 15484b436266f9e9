package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.guard.Resolver;
import io.carillon.webhook.hosts.HostLimits;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The names of one project are not answered by their name server. Its lookups stay blocked, as in the resolver of the
 * operating system; the deliveries of other projects continue.
 */
@CarillonTest(at = "2026-11-15T12:00:00Z")
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowNameServerTest {
    private static final int DELIVERIES = 200;
    private static final int SHARE = 32;
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final CarillonKit kit;
    private final BlockingResolver resolver = new BlockingResolver();
    private final ExecutorService senders = Executors.newCachedThreadPool();
    private TestReceiver testReceiver;
    private Webhooks webhooks;

    SlowNameServerTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void open() throws Exception {
        testReceiver = new TestReceiver();
        webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                // A single failure opens the breaker of a host, and no delivery reaches the limit of its host.
                .hostLimits(HostLimits.defaults().concurrency(DELIVERIES).requests(1, Duration.ofMinutes(10)))
                .resolver(resolver)
                .build();
    }

    @AfterEach
    void close() {
        resolver.answers.countDown();
        senders.shutdownNow();
        webhooks.close();
        testReceiver.close();
    }

    @Test
    void one_project_blocks_its_own_share_of_the_lookups_and_other_projects_deliver() throws Exception {
        List<Verdict> slow = verdicts("slow", DELIVERIES, i -> url("n" + i + ".slow.example"), SHORT);
        List<Verdict> fine = verdicts("fine", 40, i -> url("n" + i % 5 + ".fine.example"), LONG);

        // Lookups that start after the first timeout use the places of slow lookups, of which the project has as many.
        int blocked = resolver.blocked.get();
        assertThat(blocked).isBetween(SHARE, 2 * SHARE);
        assertThat(slow).filteredOn(Verdict.TIMED_OUT::equals).hasSize(blocked);
        assertThat(slow).filteredOn(Verdict.HELD_BACK::equals).hasSize(DELIVERIES - blocked);
        assertThat(fine).containsOnly(Verdict.DELIVERED);
    }

    @Test
    void a_name_without_an_answer_blocks_two_lookups_and_is_then_held_back_without_waiting() throws Exception {
        HostLimits lenient = HostLimits.defaults().concurrency(DELIVERIES).requests(1_000, Duration.ofMinutes(10));
        try (Webhooks lenientWebhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .hostLimits(lenient)
                .resolver(resolver)
                .build()) {
            WebhookTarget target = WebhookTarget.post(url("hole.slow.example"));
            List<Future<Delivery>> all = new ArrayList<>();
            for (int i = 0; i < DELIVERIES; i++)
                all.add(senders.submit(() -> lenientWebhooks.test("slow", target.timeouts(SHORT, SHORT))));
            for (Future<Delivery> one : all) assertThat(one.get().verdict()).isIn(Verdict.TIMED_OUT, Verdict.HELD_BACK);
            lenientWebhooks.test("slow", target.timeouts(SHORT, SHORT));

            Delivery held = lenientWebhooks.test("slow", target.timeouts(LONG, SHORT));

            assertThat(held.verdict()).isEqualTo(Verdict.HELD_BACK);
            assertThat(held.note()).isEqualTo("earlier lookups of the host name are not answered yet");
            assertThat(resolver.blocked).hasValue(2);
            assertThat(lenientWebhooks
                            .test("slow", WebhookTarget.post(url("other.fine.example")))
                            .verdict())
                    .as("other names of the same project")
                    .isEqualTo(Verdict.DELIVERED);
        }
    }

    @Test
    void seven_projects_with_slow_names_leave_lookups_to_a_project_without_any() throws Exception {
        int together = 8;
        for (int wave = 0; wave < 2; wave++) {
            String names = ".wave" + wave;
            List<Future<List<Verdict>>> hostile = new ArrayList<>();
            for (int project = 0; project < 7; project++) {
                String name = "hostile" + project;
                hostile.add(senders.submit(
                        () -> verdicts(name, 70, i -> url("n" + i + "." + name + names + ".slow.example"), SHORT)));
            }
            for (Future<List<Verdict>> one : hostile)
                assertThat(one.get()).isSubsetOf(Verdict.TIMED_OUT, Verdict.HELD_BACK);

            resolver.awaitTogether(together);
            assertThat(verdicts("fine", together, i -> url("n" + i + names + ".together.example"), LONG))
                    .as("deliveries whose names are resolved at the same time")
                    .containsOnly(Verdict.DELIVERED);
        }
        assertThat(resolver.blocked.get()).as("slow names").isBetween(56, 128);
    }

    @Test
    void a_run_that_is_held_back_again_waits_longer_up_to_a_minute() throws Exception {
        try (Carillon carillon =
                webhooks.registerOn(Carillon.on(kit.database().dataSource())).build()) {
            kit.drive(carillon);
            verdicts("default", DELIVERIES, i -> url("n" + i + ".slow.example"), SHORT);
            EnqueueResult held = carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(url("a.slow.example")));

            for (int seconds : new int[] {1, 2, 4, 8, 16, 32, 60, 60}) {
                kit.runDue();
                Duration pause = Duration.ofMillis(kit.database()
                        .query("SELECT ceil(extract(epoch FROM ready_at - carillon.clock()) * 1000)"
                                + " FROM carillon.run")
                        .number());
                assertThat(pause)
                        .as("at most %d s", seconds)
                        .isBetween(Duration.ofMillis(500L * seconds), Duration.ofSeconds(Math.max(seconds, 2)));
                kit.advance(pause);
            }
            assertThat(carillon.runs().get(held.run()).orElseThrow().failures()).isZero();
        }
    }

    @Test
    void a_run_that_is_held_back_counts_no_failure_and_charges_no_breaker() throws Exception {
        try (Carillon carillon =
                webhooks.registerOn(Carillon.on(kit.database().dataSource())).build()) {
            kit.drive(carillon);
            verdicts("default", DELIVERIES, i -> url("n" + i + ".slow.example"), SHORT);

            EnqueueResult held = carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(url("a.fine.example")));
            kit.runDue();

            Run waiting = carillon.runs().get(held.run()).orElseThrow();
            assertThat(waiting.state()).isEqualTo(RunState.WAITING);
            assertThat(waiting.failures()).isZero();
            assertThat(testReceiver.requests()).isEmpty();

            resolver.answers.countDown();
            awaitFreeLookups("default");
            kit.advance(Duration.ofSeconds(10)).runDue();

            assertThat(carillon.runs().get(held.run()).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        }
    }

    @Test
    void deliveries_to_the_same_name_share_a_lookup_in_progress() throws Exception {
        List<FutureTask<Delivery>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            FutureTask<Delivery> one = new FutureTask<>(() -> webhooks.test(
                    "slow", WebhookTarget.post(url("late.slow.example")).timeouts(LONG, LONG)));
            all.add(one);
            Thread sender = new Thread(one);
            sender.start();
            while (!isWaitingForName(sender)) Thread.onSpinWait();
        }
        resolver.answers.countDown();

        for (FutureTask<Delivery> one : all) assertThat(one.get().verdict()).isEqualTo(Verdict.DELIVERED);
        assertThat(resolver.blocked).as("lookups").hasValue(1);
        assertThat(testReceiver.requests()).hasSize(8);
    }

    private static boolean isWaitingForName(Thread sender) {
        return sender.getState() == Thread.State.TIMED_WAITING
                && Stream.of(sender.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().endsWith(".NameLookups")
                                && frame.getMethodName().equals("resolve"));
    }

    private List<Verdict> verdicts(String project, int count, IntFunction<String> url, Duration timeout)
            throws Exception {
        List<Future<Delivery>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            WebhookTarget target = WebhookTarget.post(url.apply(i)).timeouts(timeout, timeout);
            all.add(senders.submit(() -> webhooks.test(project, target)));
        }
        List<Verdict> verdicts = new ArrayList<>();
        for (Future<Delivery> one : all) verdicts.add(one.get().verdict());
        return verdicts;
    }

    private void awaitFreeLookups(String project) throws InterruptedException {
        WebhookTarget probe = WebhookTarget.post(url("b.fine.example"));
        while (webhooks.test(project, probe).verdict() == Verdict.HELD_BACK) Thread.onSpinWait();
    }

    private String url(String host) {
        return "http://" + host + ":" + testReceiver.port() + "/hook";
    }

    /** Answers loopback; for names that end in {@code slow.example} only after {@code answers} was counted down. */
    private static final class BlockingResolver implements Resolver {
        final CountDownLatch answers = new CountDownLatch(1);
        final AtomicInteger blocked = new AtomicInteger();
        private volatile CountDownLatch together = new CountDownLatch(0);

        /** Lets names that end in {@code together.example} wait for each other. */
        void awaitTogether(int names) {
            together = new CountDownLatch(names);
        }

        @Override
        public InetAddress[] resolve(String host) {
            if (host.endsWith("slow.example")) {
                blocked.incrementAndGet();
                awaitUninterruptibly(answers);
            }
            if (host.endsWith("together.example")) {
                together.countDown();
                awaitUninterruptibly(together);
            }
            return new InetAddress[] {InetAddress.getLoopbackAddress()};
        }

        /** Ignores interrupts, as the resolver of the operating system does. */
        private static void awaitUninterruptibly(CountDownLatch latch) {
            while (true) {
                try {
                    latch.await();
                    return;
                } catch (InterruptedException ignored) {
                    // The lookup goes on.
                }
            }
        }
    }
}
