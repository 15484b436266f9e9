package io.carillon.it.admin;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.PauseOptions;
import io.carillon.QueueInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redrive of dead runs, and paused queues. */
@CarillonTest
class RedriveTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private volatile boolean broken = true;
    private final ApiFixture fixture;

    RedriveTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void a_dead_run_is_redriven_as_a_new_run_with_the_same_payload() {
        Carillon carillon = node();
        RunId dead = carillon.enqueue(JOB, new Job("a"), Enqueue.now().uniqueKey("k"))
                .run();
        awaitState(carillon, dead, RunState.DEAD);
        broken = false;

        RedriveResult answer = carillon.runs().redrive(dead);

        assertThat(answer).isInstanceOf(RedriveResult.Redriven.class);
        Run again = awaitState(carillon, ((RedriveResult.Redriven) answer).run(), RunState.SUCCEEDED);
        assertThat(again.origin()).isEqualTo(Origin.REDRIVE);
        assertThat(again.details().parent()).isEqualTo(dead);
        assertThat(again.details().uniqueKey()).isEqualTo("k");
        assertThat(done).containsExactly("a");
        assertThat(carillon.runs().redrive(dead)).isEqualTo(new RedriveResult.NotDead(dead));
        assertThat(carillon.runs().redrive(RunId.generate())).isInstanceOf(RedriveResult.NotDead.class);
    }

    @Test
    void the_payload_of_a_dead_run_is_read_and_corrected() {
        Carillon carillon = node();
        RunId dead = carillon.enqueue(JOB, new Job("a")).run();
        awaitState(carillon, dead, RunState.DEAD);
        Payload stored = carillon.runs().payload(dead).orElseThrow();
        assertThat(new String(stored.bytes(), StandardCharsets.UTF_8)).isEqualTo("{\"name\":\"a\"}");
        broken = false;

        RunId again = ((RedriveResult.Redriven) carillon.runs().redrive(dead, new Job("b"))).run();

        awaitState(carillon, again, RunState.SUCCEEDED);
        assertThat(done).containsExactly("b");
        assertThat(carillon.runs().payload(again))
                .as("the history keeps no payload")
                .isEmpty();
        assertThat(carillon.runs().payload(RunId.generate())).isEmpty();
    }

    @Test
    void a_dead_run_whose_key_was_taken_is_not_redriven() {
        Carillon carillon = node();
        RunId dead = carillon.enqueue(JOB, new Job("a"), Enqueue.now().uniqueKey("k"))
                .run();
        awaitState(carillon, dead, RunState.DEAD);
        RunId other = carillon.enqueue(
                        JOB, new Job("b"), Enqueue.after(Duration.ofHours(1)).uniqueKey("k"))
                .run();

        assertThat(carillon.runs().redrive(dead)).isEqualTo(new RedriveResult.KeyTaken(dead, "k"));

        carillon.runs().cancel(other);
        assertThat(carillon.runs().redrive(dead)).isInstanceOf(RedriveResult.Redriven.class);
    }

    @Test
    void all_matching_dead_runs_are_redriven() {
        Carillon carillon = node();
        List<RunId> dead = IntStream.range(0, 20)
                .mapToObj(i -> carillon.enqueue(
                                JOB, new Job("n" + i), Enqueue.now().queue(i % 2 == 0 ? "even" : "odd"))
                        .run())
                .toList();
        dead.forEach(id -> awaitState(carillon, id, RunState.DEAD));
        broken = false;

        List<RedriveResult> answers =
                carillon.runs().redrive(RunFilter.all().queue("even").limit(7));

        assertThat(answers).hasSize(7).allMatch(RedriveResult.Redriven.class::isInstance);
        eventually().until(() -> done.size() == 7);
        assertThat(carillon.runs().redrive(RunFilter.all())).hasSize(13);
        eventually().until(() -> done.size() == 20);
        assertThat(done).doesNotHaveDuplicates();
        assertThat(carillon.runs().redrive(RunFilter.all())).isEmpty();
    }

    @Tag("slow")
    @Test
    void a_paused_queue_starts_no_run_on_any_node_and_other_queues_continue() {
        broken = false;
        Carillon one = node();
        Carillon two = node();
        assertThat(one.queues().pause("slow")).isTrue();
        assertThat(two.queues().pause("slow")).isFalse();

        RunId held =
                one.enqueue(JOB, new Job("held"), Enqueue.now().queue("slow")).run();
        RunId free = two.enqueue(JOB, new Job("free")).run();

        awaitState(one, free, RunState.SUCCEEDED);
        assertThat(one.runs().get(held).map(Run::state)).contains(RunState.WAITING);
        assertThat(one.runs().explain(held))
                .hasValueSatisfying(why -> assertThat(why.summary()).contains("queue 'slow' is paused"));
        assertThat(one.queues().list()).anySatisfy(queue -> {
            assertThat(queue.project()).isEqualTo("default");
            assertThat(queue.name()).isEqualTo("slow");
            assertThat(queue.waiting()).isEqualTo(1);
            assertThat(queue.pause()).isNotNull();
            assertThat(queue.pause().by()).isEqualTo("library");
        });

        assertThat(two.queues().resume("slow")).isTrue();
        assertThat(one.queues().resume("slow")).isFalse();
        awaitState(one, held, RunState.SUCCEEDED);
        assertThat(one.queues().list())
                .filteredOn(queue -> queue.name().equals("slow"))
                .allMatch(queue -> queue.pause() == null)
                .extracting(QueueInfo::waiting)
                .containsOnly(0L);
    }

    @Test
    void the_pause_of_a_queue_stores_its_author_and_its_reason() {
        Carillon client = fixture.client(builder -> builder);

        client.queues().pause("slow", PauseOptions.untilResumed().by("ann").reason("month end \0"));

        assertThat(client.queues().list()).singleElement().satisfies(queue -> {
            assertThat(queue.pause()).isNotNull();
            assertThat(queue.pause().by()).isEqualTo("ann");
            assertThat(queue.pause().reason()).isEqualTo("month end \uFFFD");
        });
    }

    @Test
    void running_runs_complete_when_their_queue_is_paused() {
        broken = false;
        java.util.concurrent.CountDownLatch started = new java.util.concurrent.CountDownLatch(1);
        java.util.concurrent.CountDownLatch finish = new java.util.concurrent.CountDownLatch(1);
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            started.countDown();
            finish.await();
        }));
        RunId id = carillon.enqueue(JOB, new Job("x")).run();
        eventually().until(() -> started.getCount() == 0);

        carillon.queues().pause("job");
        finish.countDown();

        awaitState(carillon, id, RunState.SUCCEEDED);
    }

    private Carillon node() {
        return fixture.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    if (broken) throw new IllegalStateException("broken");
                    done.add(job.name());
                },
                HandlerOptions.defaults().retry(Retry.none())));
    }
}
