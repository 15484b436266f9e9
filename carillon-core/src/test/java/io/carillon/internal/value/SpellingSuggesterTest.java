package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingSuggesterTest {
    private static final List<String> KNOWN = List.of("dev", "cron", "migrate", "--database-url");

    @ParameterizedTest
    @CsvSource({
        "dve, dev",
        "DEV, dev",
        "de, dev",
        "corn, cron",
        "migrat, migrate",
        "mirgate, migrate",
        "--databse-ulr, --database-url",
    })
    void finds_what_takes_few_edits(String typed, String meant) {
        assertThat(SpellingSuggester.findNearest(typed, KNOWN)).hasValue(meant);
    }

    @ParameterizedTest
    @CsvSource({"brew", "xyz", "migration-all", "''"})
    void finds_nothing_where_nothing_is_near(String typed) {
        assertThat(SpellingSuggester.findNearest(typed, KNOWN)).isEmpty();
        assertThat(SpellingSuggester.didYouMean(typed, KNOWN)).isEmpty();
    }
}
