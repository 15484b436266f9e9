package io.carillon.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.spi.RunInfo;
import io.micrometer.core.instrument.Tags;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Callers choose projects and queues, so the number of their combinations in meters is limited. */
class RunTagsTest {
    private final RunTags tags = new RunTags();

    private static RunInfo run(String project, String queue) {
        return new RunInfo(
                new RunId(new UUID(0, 1)),
                project,
                queue,
                Target.handler("mail.send"),
                Priority.NORMAL,
                Origin.DIRECT,
                1,
                0,
                null,
                null);
    }

    @Test
    void a_run_has_its_project_handler_and_queue() {
        assertThat(tags.of(run("acme", "mail")))
                .isEqualTo(Tags.of("project", "acme", "type", "mail.send", "queue", "mail"));
    }

    @Test
    void new_combinations_beyond_the_limit_are_counted_together_and_known_ones_stay() {
        Set<Object> all = new HashSet<>();
        for (int i = 0; i < 10 * RunTags.MAX_COMBINATIONS; i++) all.add(tags.of(run("p" + i % 100, "q" + i)));

        assertThat(all).hasSize(RunTags.MAX_COMBINATIONS + 1);
        assertThat(tags.of(run("late", "mail")))
                .isEqualTo(Tags.of("project", "other", "type", "mail.send", "queue", "other"));
        assertThat(tags.of(run("p0", "q0"))).isEqualTo(Tags.of("project", "p0", "type", "mail.send", "queue", "q0"));
    }
}
