package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Step;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node dies after it recorded a step of a workflow. */
@CarillonTest(at = "2026-03-02T12:00:00Z")
class KillAfterStepsTest {
    private static final WorkflowType<Integer> CHECKOUT = WorkflowType.of("checkout", Integer.class);
    private static final Step<String> PICK = Step.of("pick", String.class);

    private final CarillonKit kit;
    private final FaultProxy proxy;
    private final List<String> done = new CopyOnWriteArrayList<>();

    KillAfterStepsTest(CarillonKit kit) {
        this.kit = kit;
        this.proxy = FaultProxy.inFrontOf(kit.database());
    }

    @AfterEach
    void close() {
        proxy.close();
        kit.database().clear();
    }

    private Carillon on(DataSource dataSource) {
        return Carillon.on(dataSource).workflow(CHECKOUT, this::checkout).build();
    }

    private String checkout(Integer input, Flow flow) {
        for (String name : List.of("charge", "pick"))
            flow.run(Step.of(name, Void.class), step -> {
                done.add(name);
                return null;
            });
        flow.sleep("cooling-off", Duration.ofDays(30));
        flow.run(Step.of("send", Void.class), step -> {
            done.add("send");
            return null;
        });
        return "done";
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void another_node_continues_after_the_recorded_steps(int steps) {
        Carillon doomed = on(proxy.dataSource());
        Carillon other = on(kit.database().dataSource());
        RunId run = other.enqueue(CHECKOUT.handlerType(), 1).run();
        proxy.killAfterSteps(steps);

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> kit.drive(doomed).runDue());
        assertThat(other.runs().steps(run)).hasSize(steps);
        assertThat(done).hasSize(Math.min(steps, 2));
        kit.drive(other).advance(Duration.ofMinutes(2)).runDue();
        kit.advance(Duration.ofDays(30)).runDue();

        assertThat(done).containsExactly("charge", "pick", "send");
        assertThat(other.runs().get(run).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(other.runs().steps(run)).hasSize(4);
        doomed.close();
        other.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void another_node_executes_only_the_items_that_are_not_recorded(int steps) {
        Workflow<Integer, String> pack = (input, flow) -> {
            flow.each(PICK, List.of("a", "b", "c"), item -> item, (item, step) -> {
                done.add(item);
                return item;
            });
            flow.run(PICK.key("last"), step -> {
                done.add("last");
                return "last";
            });
            return "done";
        };
        Carillon doomed =
                Carillon.on(proxy.dataSource()).workflow(CHECKOUT, pack).build();
        Carillon other = Carillon.on(kit.database().dataSource())
                .workflow(CHECKOUT, pack)
                .build();
        RunId run = other.enqueue(CHECKOUT.handlerType(), 1).run();
        proxy.killAfterSteps(steps);

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> kit.drive(doomed).runDue());
        List<String> recorded = other.runs().steps(run).stream()
                .filter(step -> step.kind().equals("step"))
                .map(step -> String.valueOf(step.key()))
                .toList();
        kit.drive(other).advance(Duration.ofMinutes(2)).runDue();

        assertThat(other.runs().get(run).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(other.runs().steps(run)).hasSize(5);
        assertThat(done).contains("a", "b", "c");
        assertThat(recorded).allSatisfy(item -> assertThat(done).containsOnlyOnce(item));
        doomed.close();
        other.close();
    }

    @Test
    void a_number_below_one_is_rejected() {
        assertThatThrownBy(() -> proxy.killAfterSteps(0)).hasMessage("steps must be at least 1 (was 0).");
    }
}
