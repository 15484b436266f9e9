package io.carillon.it.wakeup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.Project;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.Keyring;
import io.carillon.spi.MessageEndpoint;
import io.carillon.spi.MessageQueue;
import io.carillon.spi.MessageResult;
import io.carillon.spi.MessageResult.Acknowledge;
import io.carillon.spi.MessageResult.GiveUp;
import io.carillon.spi.WakeTransport;
import io.carillon.spi.WakeTransport.RunRequest;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Start;
import io.carillon.workflow.WorkflowType;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Messages that name runs, and the consumer that executes them. No node takes part. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class RunMessagesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final WorkflowType<Job> ORDER = WorkflowType.of("order", Job.class);
    private static final Signal<String> APPROVAL = Signal.of("approval", String.class);
    private static final Keyring KEYS = Keyring.parse(Keyring.newKey("k"));
    private static final Duration WEEK = Duration.ofDays(7);
    private static final Duration DAY = Duration.ofDays(1);

    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final Outbox outbox = new Outbox();
    private final TestClock clock;
    private final ApiFixture fixture;

    RunMessagesTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Keeps the messages that were sent, with their delays. */
    private static final class Outbox implements WakeTransport {
        private final Map<String, Duration> sent = new LinkedHashMap<>();

        @Override
        public Duration longestDelay() {
            return WEEK;
        }

        @Override
        public void send(Message message, Duration delay) {
            sent.put(message.text(), delay);
        }

        @Override
        public AutoCloseable receive(Consumer<Message> consumer) {
            return () -> {};
        }

        /** Takes the only message. */
        String take(Duration delay) {
            assertThat(sent.values().stream().map(RunMessagesTest::rounded)).containsExactly(delay);
            String text = sent.keySet().iterator().next();
            sent.clear();
            return text;
        }
    }

    @Test
    void a_message_names_the_run_its_attempt_and_time_and_is_executed() {
        Carillon carillon = consumer();
        RunId run = carillon.enqueue(JOB, new Job("a")).run();
        String text = outbox.take(Duration.ZERO);
        WakeTransport.Message message = WakeTransport.Message.parse(text);
        RunRequest request = message.run();

        assertThat(message.queue()).isEqualTo("job");
        assertThat(message.project()).isEqualTo("default");
        assertThat(request.run()).isEqualTo(run);
        assertThat(request.attempt()).isOne();
        assertThat(request.sentAt()).isAfter(Instant.parse("2026-01-01T00:00:00Z"));
        assertThat(consume(carillon, text)).isEqualTo(new Acknowledge());
        assertThat(done).containsExactly("a");
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(outbox.sent).isEmpty();
    }

    @Test
    void each_run_of_a_call_or_transaction_has_a_message_and_a_duplicate_has_none() throws SQLException {
        Carillon carillon = consumer();
        carillon.enqueueAll(JOB, List.of(new Job("a"), new Job("b")));
        assertThat(outbox.sent).hasSize(2);
        outbox.sent.clear();
        carillon.enqueue(JOB, new Job("c"), Enqueue.after(DAY).uniqueKey("k"));
        carillon.enqueue(JOB, new Job("d"), Enqueue.now().uniqueKey("k"));
        outbox.take(DAY);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            List<Runnable> afterCommit = new ArrayList<>();
            Project mine = carillon.in(connection, afterCommit::add);
            mine.enqueueAll(JOB, List.of(new Job("e"), new Job("f")));
            assertThat(outbox.sent).isEmpty();
            afterCommit.forEach(Runnable::run);
        }
        assertThat(outbox.sent).hasSize(2);
    }

    @Test
    void a_repeated_an_early_and_an_old_message_execute_nothing() {
        Carillon carillon = consumer();
        RunId run =
                carillon.enqueue(JOB, new Job("fails once"), Enqueue.after(DAY)).run();
        String first = outbox.take(DAY);

        assertThat(consume(carillon, first)).isEqualTo(new MessageResult.Retry(DAY));
        assertThat(done).isEmpty();
        clock.advance(DAY);
        assertThat(consume(carillon, first)).isEqualTo(new Acknowledge());
        String second = outbox.take(Duration.ofMinutes(1));
        assertThat(consume(carillon, first)).isEqualTo(new MessageResult.Retry(Duration.ofMinutes(1)));
        clock.advance(Duration.ofMinutes(1));
        assertThat(consume(carillon, second)).isEqualTo(new Acknowledge());
        assertThat(carillon.consume(List.of(first, second, first)))
                .containsExactly(new Acknowledge(), new Acknowledge(), new Acknowledge());

        assertThat(done).containsExactly("fails once", "fails once");
        assertThat(carillon.runs().get(run).orElseThrow().attempt()).isEqualTo(2);
    }

    @Test
    void a_forged_altered_or_expired_message_is_given_up_and_executes_nothing() {
        Carillon carillon = consumer();
        RunId run = carillon.enqueue(JOB, new Job("a")).run();
        String valid = outbox.take(Duration.ZERO);
        RunId other = carillon.enqueue(JOB, new Job("b")).run();
        Map<String, String> before = fixture.tableDigests();
        Carillon foreign = sender(Keyring.parse(Keyring.newKey("k")), DAY);
        outbox.sent.clear();
        RunId third = foreign.enqueue(JOB, new Job("c")).run();
        String forged = outbox.take(Duration.ZERO);

        for (String text : List.of(
                forged,
                valid.replace(run.toString(), other.toString()),
                valid.replace(" 1 ", " 2 "),
                valid.replace("job default", "job elsewhere"),
                valid.substring(0, valid.length() - 1),
                "job default",
                "",
                "x y z")) assertThat(consume(carillon, text)).as(text).isInstanceOf(GiveUp.class);

        fixture.database().execute("DELETE FROM carillon.run WHERE id = '" + third.value() + "'");
        assertThat(fixture.tableDigests()).isEqualTo(before);
        sender(KEYS, Duration.ofSeconds(1)).enqueue(JOB, new Job("d"));
        String expires = outbox.take(Duration.ZERO);
        carillon.queues().pause("job");
        GiveUp expired = new GiveUp("The authorization has expired.");
        ApiFixture.eventually().until(() -> consume(carillon, expires), expired::equals);
        assertThat(done).isEmpty();
        carillon.queues().resume("job");
        assertThat(consume(carillon, valid)).isEqualTo(new Acknowledge());
    }

    @Test
    void a_workflow_goes_on_with_the_message_for_each_wait_and_for_a_signal() {
        Carillon carillon = consumer();
        RunId order = carillon.start(ORDER, new Job("x"), Start.id("o")).run();
        assertThat(consume(carillon, outbox.take(Duration.ZERO))).isEqualTo(new Acknowledge());
        String afterSleep = outbox.take(DAY);
        clock.advance(DAY);
        assertThat(consume(carillon, afterSleep)).isEqualTo(new Acknowledge());
        String atTimeLimit = outbox.take(WEEK);

        carillon.workflow(order).signal(APPROVAL, "ann");
        assertThat(consume(carillon, outbox.take(Duration.ZERO))).isEqualTo(new Acknowledge());

        assertThat(carillon.workflow(order).result(String.class)).contains("ann");
        assertThat(consume(carillon, atTimeLimit)).isEqualTo(new Acknowledge());
        assertThat(outbox.sent).isEmpty();
    }

    @Test
    void a_wait_longer_than_a_message_can_be_delayed_keeps_the_message() {
        Carillon carillon =
                fixture.client(builder -> builder.wakeup(wakeup(KEYS, DAY)).workflow(ORDER, (job, flow) -> {
                    flow.sleep("long", Duration.ofDays(10));
                    return "awake";
                }));
        RunId order = carillon.start(ORDER, new Job("x"), Start.id("o")).run();
        String text = outbox.take(Duration.ZERO);

        assertThat(consume(carillon, text)).isEqualTo(new MessageResult.Retry(WEEK));
        clock.advance(WEEK);
        assertThat(consume(carillon, text)).isEqualTo(new MessageResult.Retry(Duration.ofDays(3)));
        clock.advance(Duration.ofDays(3));
        assertThat(consume(carillon, text)).isEqualTo(new Acknowledge());

        assertThat(carillon.workflow(order).result(String.class)).contains("awake");
    }

    @Test
    void a_message_is_kept_by_a_process_without_the_handler_and_while_the_queue_is_paused() {
        Carillon sender = sender(KEYS, DAY);
        sender.enqueue(JOB, new Job("a"));
        String text = outbox.take(Duration.ZERO);
        MessageResult later = new MessageResult.Retry(Duration.ofSeconds(30));

        assertThat(consume(sender, text)).isEqualTo(later);
        sender.queues().pause("job");
        assertThat(consume(consumer(), text)).isEqualTo(later);
        sender.queues().resume("job");
        assertThat(consume(consumer(), text)).isEqualTo(new Acknowledge());
        assertThat(done).containsExactly("a");
    }

    @Test
    void lost_messages_cost_time_only() {
        Carillon carillon = consumer();
        carillon.enqueueAll(JOB, List.of(new Job("a"), new Job("b")));
        outbox.sent.clear();

        assertThat(carillon.runDue(Duration.ofSeconds(10)).processed()).isEqualTo(2);
        assertThat(done).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void a_queue_is_consumed_in_batches_and_each_message_is_answered() throws InterruptedException {
        Carillon carillon = consumer();
        carillon.enqueueAll(JOB, List.of(new Job("a"), new Job("b")));
        carillon.enqueue(JOB, new Job("later"), Enqueue.after(DAY));
        MemoryQueue queue = new MemoryQueue();
        queue.texts.addAll(outbox.sent.keySet());
        queue.texts.add("forged");

        assertThat(carillon.consume(queue, 3, Duration.ofSeconds(1))).isEqualTo(3);
        assertThat(carillon.consume(queue, 3, Duration.ofSeconds(1))).isOne();
        assertThat(carillon.consume(queue, 3, Duration.ofSeconds(1))).isZero();

        assertThat(done).containsExactly("a", "b");
        assertThat(queue.answers)
                .containsExactly("acknowledge", "acknowledge", "retry PT24H", "The text is no wake-up message.");
        CarillonException refused =
                catchThrowableOfType(CarillonException.class, () -> carillon.consume(queue, 0, Duration.ZERO));
        assertThat(refused).hasMessageContaining("maxBatch must be between 1 and 1000");
    }

    @Test
    void a_request_with_messages_gets_a_status_for_its_platform() {
        Carillon carillon = consumer();
        carillon.enqueue(JOB, new Job("a"));
        String now = outbox.take(Duration.ZERO);
        carillon.enqueue(JOB, new Job("later"), Enqueue.after(DAY));
        String later = outbox.take(DAY);
        MessageEndpoint endpoint = new MessageEndpoint(carillon::consume);

        MessageEndpoint.Response again = endpoint.answer(utf8(now + "\n" + later + "\nforged\n"));
        assertThat(again.status()).isEqualTo(503);
        assertThat(again.body().replaceFirst(":86[34]\\d\\d}", ":86400}"))
                .isEqualTo("{\"results\":[{\"result\":\"acknowledge\"},{\"result\":\"retry\",\"delaySeconds\":86400},"
                        + "{\"result\":\"give-up\",\"reason\":\"The text is no wake-up message.\"}]}");
        assertThat(endpoint.answer(utf8(now)).status()).isEqualTo(200);
        assertThat(endpoint.answer(utf8("")).body()).isEqualTo("{\"results\":[]}");
        assertThat(endpoint.answer(utf8("x\n".repeat(1_001))).status()).isEqualTo(413);
        assertThat(done).containsExactly("a");
    }

    @Test
    void a_process_without_keys_refuses_messages() {
        Carillon carillon = fixture.client(builder -> builder.wakeup(Wakeup.queue(outbox)));

        CarillonException refused = catchThrowableOfType(CarillonException.class, () -> carillon.consume(List.of("x")));

        assertThat(refused.code()).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(refused).hasMessageContaining("messagePerRun");
    }

    /** A queue that answers are written to. */
    private static final class MemoryQueue implements MessageQueue {
        private final List<String> texts = new ArrayList<>();
        private final List<String> answers = new ArrayList<>();

        @Override
        public List<Received> take(int max, Duration wait) {
            List<String> batch = List.copyOf(texts.subList(0, Math.min(max, texts.size())));
            texts.subList(0, batch.size()).clear();
            return batch.stream().<Received>map(Taken::new).toList();
        }

        private final class Taken implements Received {
            private final String text;

            Taken(String text) {
                this.text = text;
            }

            @Override
            public String text() {
                return text;
            }

            @Override
            public void acknowledge() {
                answers.add("acknowledge");
            }

            @Override
            public void retry(Duration delay) {
                answers.add("retry " + rounded(delay));
            }

            @Override
            public void giveUp(String reason) {
                answers.add(reason);
            }
        }
    }

    private Carillon consumer() {
        return fixture.client(builder -> builder.wakeup(wakeup(KEYS, DAY))
                .handle(
                        JOB,
                        (job, run) -> {
                            done.add(job.name());
                            if (job.name().equals("fails once") && run.attempt() == 1)
                                throw new IllegalStateException("first");
                        },
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(Duration.ofMinutes(1)).jitter(0)))
                .workflow(ORDER, (job, flow) -> {
                    flow.sleep("a-day", DAY);
                    return flow.await(APPROVAL, WEEK).orElse("none");
                }));
    }

    private Carillon sender(Keyring keys, Duration valid) {
        return fixture.client(builder -> builder.wakeup(wakeup(keys, valid)));
    }

    private Wakeup wakeup(Keyring keys, Duration valid) {
        return Wakeup.queue(outbox).messagePerRun(keys, valid);
    }

    private static MessageResult consume(Carillon carillon, String text) {
        MessageResult result = carillon.consume(List.of(text)).get(0);
        return result instanceof MessageResult.Retry retry && retry.delay().toSeconds() > 30
                ? new MessageResult.Retry(rounded(retry.delay()))
                : result;
    }

    /** The clock of the database stands still, and that of the process does not: rounds to a multiple of a minute. */
    private static Duration rounded(Duration delay) {
        return Duration.ofMinutes(delay.plusSeconds(30).toMinutes());
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
