package io.carillon.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final BenchEnvironment NOW = new BenchEnvironment("abc", "quick", "", Map.of(), Map.of(), Map.of());
    private static final Report REPORT = new Report(List.of(new Result(
            "drain",
            "2026-06-01T12:00:00Z",
            12,
            NOW,
            List.of(
                    Row.judged("1 node", ">= 12x", "13.0x", true).note("quiet"),
                    Row.judged("2 nodes", ">= 85 %", "80 %", false),
                    Row.info("R | raw", "70,000/s", "")),
            Map.of("1 node", List.of(1.0, 2.0)))));

    @Test
    void the_columns_of_the_table_are_aligned() {
        assertThat(REPORT.text(Report.Form.TABLE)).isEqualTo("""
                workload  row      bar      measured  met  note
                drain     1 node   >= 12x   13.0x     yes  quiet
                drain     2 nodes  >= 85 %  80 %      NO
                drain     R | raw           70,000/s
                """);
    }

    @Test
    void markdown_is_a_table_with_escaped_vertical_bars() {
        assertThat(REPORT.text(Report.Form.MARKDOWN).lines())
                .startsWith("| workload | row | bar | measured | met | note |", "|---|---|---|---|---|---|")
                .contains("| drain | 1 node | >= 12x | 13.0x | yes | quiet |")
                .contains("| drain | R \\| raw |  | 70,000/s |  |  |");
    }

    @Test
    void json_has_every_figure() {
        assertThat(REPORT.text(Report.Form.JSON))
                .contains("\"workload\" : \"drain\"", "[ 1.0, 2.0 ]", "\"met\" : false");
    }

    @Test
    void one_missed_target_fails_the_report() {
        assertThat(REPORT.allMet()).isFalse();
        assertThat(new Report(List.of()).allMet()).isTrue();
    }
}
