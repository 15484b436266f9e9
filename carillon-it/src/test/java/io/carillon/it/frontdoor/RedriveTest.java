package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Redrive;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.store.LaneInfo;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Dead runs that live again, and queues that stand still. */
@CarillonTest
class RedriveTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private volatile boolean broken = true;
    private final House house;

    RedriveTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void a_dead_run_lives_again_as_a_new_one_with_the_same_payload() {
        Carillon carillon = node();
        RunId dead = carillon.enqueue(JOB, new Job("a"), Enqueue.now().key("k")).run();
        awaitState(carillon, dead, RunState.DEAD);
        broken = false;

        Redrive answer = carillon.runs().redrive(dead);

        assertThat(answer).isInstanceOf(Redrive.Redriven.class);
        Run again = awaitState(carillon, ((Redrive.Redriven) answer).run(), RunState.SUCCEEDED);
        assertThat(again.origin()).isEqualTo(Origin.REDRIVE);
        assertThat(again.details().parent()).isEqualTo(dead);
        assertThat(again.details().key()).isEqualTo("k");
        assertThat(done).containsExactly("a");
        assertThat(carillon.runs().redrive(dead)).isEqualTo(new Redrive.Gone(dead));
        assertThat(carillon.runs().redrive(RunId.next())).isInstanceOf(Redrive.Gone.class);
    }

    @Test
    void a_key_that_is_taken_meanwhile_keeps_the_dead_run_where_it_is() {
        Carillon carillon = node();
        RunId dead = carillon.enqueue(JOB, new Job("a"), Enqueue.now().key("k")).run();
        awaitState(carillon, dead, RunState.DEAD);
        RunId other = carillon.enqueue(
                        JOB, new Job("b"), Enqueue.after(Duration.ofHours(1)).key("k"))
                .run();

        assertThat(carillon.runs().redrive(dead)).isEqualTo(new Redrive.KeyTaken(dead, "k"));

        carillon.runs().cancel(other);
        assertThat(carillon.runs().redrive(dead)).isInstanceOf(Redrive.Redriven.class);
    }

    @Test
    void all_dead_runs_that_match_live_again() {
        Carillon carillon = node();
        List<RunId> dead = IntStream.range(0, 20)
                .mapToObj(i -> carillon.enqueue(
                                JOB, new Job("n" + i), Enqueue.now().queue(i % 2 == 0 ? "even" : "odd"))
                        .run())
                .toList();
        dead.forEach(id -> awaitState(carillon, id, RunState.DEAD));
        broken = false;

        List<Redrive> answers =
                carillon.runs().redrive(RunFilter.all().queue("even").limit(7));

        assertThat(answers).hasSize(7).allMatch(Redrive.Redriven.class::isInstance);
        eventually().until(() -> done.size() == 7);
        assertThat(carillon.runs().redrive(RunFilter.all())).hasSize(13);
        eventually().until(() -> done.size() == 20);
        assertThat(done).doesNotHaveDuplicates();
        assertThat(carillon.runs().redrive(RunFilter.all())).isEmpty();
    }

    @Test
    void a_paused_queue_stands_still_on_all_nodes_and_others_go_on() {
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
        assertThat(one.queues().list()).anySatisfy(lane -> {
            assertThat(lane.lane().queue()).isEqualTo("slow");
            assertThat(lane.waiting()).isEqualTo(1);
            assertThat(lane.pause()).isNotNull();
            assertThat(lane.pause().by()).isEqualTo("library");
        });

        assertThat(two.queues().resume("slow")).isTrue();
        assertThat(one.queues().resume("slow")).isFalse();
        awaitState(one, held, RunState.SUCCEEDED);
        assertThat(one.queues().list())
                .filteredOn(lane -> lane.lane().queue().equals("slow"))
                .allMatch(lane -> lane.pause() == null)
                .extracting(LaneInfo::waiting)
                .containsOnly(0L);
    }

    @Test
    void what_runs_when_its_queue_is_paused_ends_in_peace() {
        broken = false;
        java.util.concurrent.CountDownLatch started = new java.util.concurrent.CountDownLatch(1);
        java.util.concurrent.CountDownLatch finish = new java.util.concurrent.CountDownLatch(1);
        Carillon carillon = house.node(builder -> builder.handle(JOB, (job, run) -> {
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
        return house.node(builder -> builder.handle(
                JOB,
                (job, run) -> {
                    if (broken) throw new IllegalStateException("broken");
                    done.add(job.name());
                },
                options -> options.retry(Retry.none())));
    }
}
