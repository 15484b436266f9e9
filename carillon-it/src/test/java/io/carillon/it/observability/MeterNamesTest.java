package io.carillon.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/observability.md names every meter, and the dashboard and the alert rules name only meters that exist. */
class MeterNamesTest {
    private static final Path ROOT = SourceTree.here().root();
    private static final Path METERS = ROOT.resolve("carillon-core/src/main/java/io/carillon/micrometer");
    private static final Path SERVER =
            ROOT.resolve("carillon-server/src/main/java/io/carillon/server/CarillonServer.java");
    private static final Pattern LITERAL = Pattern.compile("\"(carillon(?:\\.[a-z]+)+)\"");
    private static final Pattern SHOWN = Pattern.compile("\\b(carillon(?:_[a-z]+)+)\\b");
    private static final Pattern SUFFIX = Pattern.compile("(_seconds)?(_bucket|_count|_sum|_max|_total)?$");

    @Test
    void the_page_names_every_meter_and_no_other() {
        Set<String> all = new TreeSet<>(inPrometheus());
        for (String name : literals(SERVER)) all.add(name.replace('.', '_'));

        assertThat(shown("docs/observability.md")).isEqualTo(all).contains("carillon_http_requests");
    }

    @Test
    void the_dashboard_and_the_rules_name_meters_that_exist() {
        assertThat(shown("docs/observability/grafana-dashboard.json"))
                .hasSizeGreaterThan(12)
                .isSubsetOf(inPrometheus());
        assertThat(shown("docs/observability/prometheus-rules.yml"))
                .hasSizeGreaterThan(8)
                .isSubsetOf(inPrometheus());
    }

    /** Returns the meter names in the code. */
    static Set<String> meters() {
        Set<String> all = new TreeSet<>(literals(METERS.resolve("CarillonMeters.java")));
        all.addAll(literals(METERS.resolve("SnapshotCache.java")));
        return all;
    }

    private static Set<String> inPrometheus() {
        return meters().stream().map(name -> name.replace('.', '_')).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> literals(Path source) {
        return LITERAL.matcher(SourceTree.read(source))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> shown(String page) {
        return SHOWN.matcher(SourceTree.read(ROOT.resolve(page)))
                .results()
                .map(found -> SUFFIX.matcher(found.group(1)).replaceFirst(""))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
