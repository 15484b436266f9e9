package io.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.carillon.bench.measure.Profile;
import io.carillon.bench.report.BenchEnvironment;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Report;
import io.carillon.bench.report.Row;
import io.carillon.bench.workload.Workload;
import io.carillon.bench.workload.WorkloadContext;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The workloads that are measured, skipped and stored. Needs no server. */
class BenchTest {
    private static final BenchEnvironment NOW = new BenchEnvironment("abc", "smoke", "", Map.of(), Map.of(), Map.of());

    @TempDir
    Path folder;

    private final List<String> measured = new ArrayList<>();
    private final StringWriter progressText = new StringWriter();

    @Test
    void resumes_where_a_killed_benchmark_stopped() throws Exception {
        Workload broken = workload("fire", () -> {
            throw new IllegalStateException("killed");
        });
        assertThat(org.assertj.core.api.Assertions.catchThrowable(
                        () -> run(List.of(), workload("drain", () -> {}), broken)))
                .hasMessage("killed");

        Report report = run(List.of(), workload("drain", () -> {}), workload("fire", () -> {}));

        assertThat(measured).containsExactly("drain", "fire");
        assertThat(report.text(Report.Form.TABLE).lines()).hasSize(3);
        assertThat(progressText.toString()).contains("drain: already measured at ", "fire: measured in ");
    }

    @Test
    void a_named_workload_is_measured_again() throws Exception {
        run(List.of(), workload("drain", () -> {}), workload("fire", () -> {}));
        run(List.of("fire"), workload("drain", () -> {}), workload("fire", () -> {}));

        assertThat(measured).containsExactly("drain", "fire", "fire");
    }

    @Test
    void an_unknown_workload_is_rejected_with_a_list_of_workloads() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Bench.BenchRequest(List.of("drian"), List.of(), Profile.QUICK))
                .withMessageContaining("Unknown workload 'drian'. Choose from drain, shapes");
    }

    private Report run(List<String> names, Workload... workloads) throws Exception {
        Bench bench = new Bench(
                new Bench.BenchRequest(names, List.of(), Profile.SMOKE),
                new Bench.BenchPaths("abc", folder.resolve("postgres"), folder.resolve("results.jsonl"), null),
                ProgressLine.on(new PrintWriter(progressText)));
        return bench.run(List.of(workloads), new WorkloadContext(null, List.of(), Profile.SMOKE, what -> {}), NOW);
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
            public Findings run(WorkloadContext workloadContext) {
                work.run();
                measured.add(name);
                Findings findings = new Findings();
                findings.add(Row.info(name, "1", ""));
                return findings;
            }
        };
    }
}
