package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.HealthIssue;
import io.carillon.engine.EngineConfig;
import io.carillon.it.walls.SourceTree;
import org.junit.jupiter.api.Test;

/** What docs/operations.md tells whoever is on duty is complete. */
class OperationsPageTest {
    private static final String PAGE = SourceTree.read(SourceTree.here().root().resolve("docs/operations.md"));

    @Test
    void says_what_to_do_about_every_issue() {
        String watch = PAGE.substring(PAGE.indexOf("\n## Watch\n"), PAGE.indexOf("\n## What is kept"));

        for (HealthIssue issue : HealthIssue.values())
            assertThat(watch).containsPattern("(?m)^\\| [^|]*`" + issue.name() + "`[^|]* \\| .+ \\|$");
    }

    @Test
    void tells_the_retention_as_it_is() {
        EngineConfig.Retention retention = EngineConfig.Retention.defaults();

        assertThat(PAGE)
                .contains("| ended runs and the ledger of instants | %d days"
                        .formatted(retention.history().toDays()))
                .contains("| dead and quarantined runs, with payload | %d days"
                        .formatted(retention.deadRuns().toDays()));
    }
}
