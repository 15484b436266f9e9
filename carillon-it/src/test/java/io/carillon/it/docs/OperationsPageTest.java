package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Health;
import io.carillon.NodeConfig;
import io.carillon.it.architecture.SourceTree;
import org.junit.jupiter.api.Test;

/** docs/operations.md covers every health issue and states the actual retention. */
class OperationsPageTest {
    private static final String PAGE = SourceTree.read(SourceTree.here().root().resolve("docs/operations.md"));

    @Test
    void gives_advice_for_every_issue() {
        String watch = PAGE.substring(PAGE.indexOf("\n## Watch\n"), PAGE.indexOf("\n## What is kept"));

        for (Health.Kind issue : Health.Kind.values())
            assertThat(watch).containsPattern("(?m)^\\| [^|]*`" + issue.name() + "`[^|]* \\| .+ \\|$");
    }

    @Test
    void states_the_actual_retention() {
        NodeConfig config = NodeConfig.defaults();

        assertThat(PAGE)
                .contains("| ended runs and the ledger of instants | %d days"
                        .formatted(config.historyRetention().toDays()))
                .contains("| dead and quarantined runs, with payload | %d days"
                        .formatted(config.deadRunRetention().toDays()));
    }
}
