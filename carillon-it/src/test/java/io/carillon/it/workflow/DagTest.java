package io.carillon.it.workflow;

import static io.carillon.workflow.Dag.after;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Dag;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workflows of tasks that depend on each other and share a context. */
@CarillonTest
class DagTest {
    private static final Retry AT_ONCE = Retry.exponential(Duration.ZERO);
    private final ApiFixture fixture;
    private final List<String> done = new CopyOnWriteArrayList<>();

    DagTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Map<?, ?> run(Dag dag, Map<String, Object> input) {
        Carillon client = fixture.client(builder -> builder.workflow(dag.type(), dag));
        RunId id = client.enqueue(dag.type().handlerType(), input).run();
        client.runDue(Duration.ofSeconds(30));
        Run ended = client.runs().get(id).orElseThrow();
        assertThat(ended.state()).isEqualTo(RunState.SUCCEEDED);
        return client.runs().result(id, Map.class).orElseThrow();
    }

    @Test
    void tasks_read_and_change_the_context_and_independent_ones_are_executed_in_parallel() {
        CyclicBarrier both = new CyclicBarrier(2);
        Dag.TaskCode together = (context, step) -> {
            both.await(20, TimeUnit.SECONDS);
            return null;
        };
        Dag nightly = Dag.named("nightly")
                .task("extract", (context, step) -> {
                    together.run(context, step);
                    return Map.of("rows", 7);
                })
                .task("clean-up", together)
                .task("load", after("extract").retry(AT_ONCE.attempts(2)), (context, step) -> {
                    done.add("load " + context.get("day") + " " + context.get("rows") + " " + step.failures());
                    if (step.failures() == 0) throw new IllegalStateException("locked");
                    return Map.of("rows", 8, "loaded", true);
                })
                .task(
                        "alarm",
                        after("extract").when(context -> context.get("rows").equals(0)),
                        (context, step) -> {
                            done.add("alarm");
                            return null;
                        })
                .task(
                        "report",
                        after("load", "alarm"),
                        (context, step) -> Map.of("report", context.get("rows") + " rows"));

        assertThat(run(nightly, Map.of("day", "monday")).toString())
                .contains("day=monday", "rows=8", "loaded=true", "report=8 rows");
        assertThat(done).containsExactly("load monday 7 0", "load monday 7 1");
    }

    @Test
    void a_dag_without_tasks_returns_its_input() {
        assertThat(run(Dag.named("empty"), Map.of()).size()).isZero();
    }

    @Test
    void unknown_and_repeated_names_and_cycles_are_rejected_when_the_dag_is_built() {
        Dag dag = Dag.named("nightly").task("extract", (context, step) -> null);
        assertThatThrownBy(() -> dag.task("load", after("extrakt"), (context, step) -> null))
                .hasMessage("task 'load' of 'nightly' is after 'extrakt', which is not a task that was added before."
                        + " Known: [extract].");
        assertThatThrownBy(() -> dag.task("load", after("load"), (context, step) -> null))
                .hasMessageContaining("task 'load' of 'nightly' is after 'load'");
        assertThatThrownBy(() -> dag.task("extract", (context, step) -> null))
                .hasMessage("task 'extract' of 'nightly' exists already.");
        assertThatThrownBy(() -> dag.task("level-1", (context, step) -> null))
                .hasMessage("task 'level-1' of 'nightly' has the name of a level. Choose another name.");
    }
}
