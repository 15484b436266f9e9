package io.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.carillon.bench.report.Circumstances;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Report;
import io.carillon.bench.report.Row;
import io.carillon.bench.workload.Profile;
import io.carillon.bench.workload.Stage;
import io.carillon.bench.workload.Workload;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is measured, what is known already, and what is kept. No server is needed for that. */
class BenchTest {
    private static final Circumstances NOW = new Circumstances("abc", "smoke", "", Map.of(), Map.of(), Map.of());

    @TempDir
    Path folder;

    private final List<String> measured = new ArrayList<>();
    private final StringWriter said = new StringWriter();

    @Test
    void goes_on_where_a_killed_benchmark_was() throws Exception {
        Workload broken = workload("fire", () -> {
            throw new IllegalStateException("killed");
        });
        assertThat(org.assertj.core.api.Assertions.catchThrowable(
                        () -> run(List.of(), workload("drain", () -> {}), broken)))
                .hasMessage("killed");

        Report report = run(List.of(), workload("drain", () -> {}), workload("fire", () -> {}));

        assertThat(measured).containsExactly("drain", "fire");
        assertThat(report.text(Report.Form.TABLE).lines()).hasSize(3);
        assertThat(said.toString()).contains("drain: already measured at ", "fire: measured in ");
    }

    @Test
    void what_is_named_is_measured_again() throws Exception {
        run(List.of(), workload("drain", () -> {}), workload("fire", () -> {}));
        run(List.of("fire"), workload("drain", () -> {}), workload("fire", () -> {}));

        assertThat(measured).containsExactly("drain", "fire", "fire");
    }

    @Test
    void a_workload_that_is_not_there_is_refused_with_those_that_are() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Bench.Wishes(List.of("drian"), List.of(), Profile.QUICK))
                .withMessageContaining("There is no workload 'drian'. Choose from drain, enqueue");
    }

    private Report run(List<String> names, Workload... workloads) throws Exception {
        Bench bench = new Bench(
                new Bench.Wishes(names, List.of(), Profile.SMOKE),
                new Bench.Places("abc", folder.resolve("postgres"), folder.resolve("results.jsonl"), null),
                ProgressLine.on(new PrintWriter(said)));
        return bench.run(List.of(workloads), new Stage(null, List.of(), Profile.SMOKE, what -> {}), NOW);
    }

    private Workload workload(String name, Runnable work) {
        return new Workload() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public String about() {
                return name;
            }

            @Override
            public Findings run(Stage stage) {
                work.run();
                measured.add(name);
                Findings findings = new Findings();
                findings.add(Row.info(name, "1", ""));
                return findings;
            }
        };
    }
}
