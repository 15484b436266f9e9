package io.carillon.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFileTest {
    @TempDir
    Path folder;

    private ResultFile file;

    @BeforeEach
    void create_a_file_in_a_missing_folder() {
        file = new ResultFile(folder.resolve("new/results.jsonl"));
    }

    @Test
    void keeps_every_result_as_one_line() throws IOException {
        Result first = result("drain", "abc", "quick", "db-scheduler");
        Result second = result("fire", "abc", "quick", "db-scheduler");
        file.append(first);
        file.append(second);

        assertThat(file.read()).containsExactly(first, second);
        assertThat(Files.readAllLines(file.path())).hasSize(2);
    }

    @Test
    void an_incomplete_line_does_not_affect_other_lines() throws IOException {
        Result first = result("drain", "abc", "quick", "");
        Result third = result("idle", "abc", "quick", "");
        file.append(first);
        Files.writeString(file.path(), "{\"workload\":\"fi", StandardOpenOption.APPEND);
        file.append(third);

        assertThat(file.read()).containsExactly(first, third);
    }

    @Test
    void finds_the_newest_result_of_the_same_code_profile_and_peers() throws IOException {
        Result older = result("drain", "abc", "quick", "db-scheduler");
        Result newer = new Result("drain", "later", 9, older.circumstances(), older.rows(), older.figures());
        file.append(older);
        file.append(newer);

        assertThat(file.find("drain", older.circumstances())).contains(newer);
        assertThat(file.find("fire", older.circumstances())).isEmpty();
        assertThat(file.find("drain", environment("def", "quick", "db-scheduler")))
                .isEmpty();
        assertThat(file.find("drain", environment("abc", "full", "db-scheduler")))
                .isEmpty();
        assertThat(file.find("drain", environment("abc", "quick", ""))).isEmpty();
    }

    @Test
    void code_without_a_version_is_measured_every_time() throws IOException {
        file.append(result("drain", "unknown", "quick", ""));

        assertThat(file.find("drain", environment("unknown", "quick", ""))).isEmpty();
    }

    private static Result result(String workload, String commit, String profile, String peers) {
        return new Result(
                workload,
                "2026-06-01T12:00:00Z",
                1.5,
                environment(commit, profile, peers),
                List.of(Row.judged("row", ">= 1", "2", true), Row.info("other", "3", "")),
                Map.of("figure", List.of(1.0, 2.5)));
    }

    private static BenchEnvironment environment(String commit, String profile, String peers) {
        return new BenchEnvironment(commit, profile, peers, Map.of("cores", "2"), Map.of(), Map.of());
    }
}
