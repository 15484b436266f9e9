package io.carillon.internal.engine.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Lane;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LaneHandlersTest {
    private static final Lane MAIL = new Lane("mail", "shop");

    private final LaneHandlers seen = new LaneHandlers(Set.of("mail.send"));

    @Test
    void keeps_a_bounded_number_of_lanes_and_still_knows_the_latest() {
        for (int i = 0; i < 3 * LaneHandlers.MAX_LANES; i++) {
            Lane lane = new Lane("queue-" + i, "shop");
            seen.add(lane, "mail.send");

            assertThat(seen.handlersOf(lane)).containsExactly("mail.send");
            if (seen.laneCount() > LaneHandlers.MAX_LANES)
                assertThat(seen.laneCount()).as("lanes").isLessThanOrEqualTo(LaneHandlers.MAX_LANES);
        }
        assertThat(seen.laneCount()).isPositive();
    }

    @Test
    void adding_a_known_lane_forgets_no_other() {
        for (int i = 0; i < LaneHandlers.MAX_LANES; i++) seen.add(new Lane("queue-" + i, "shop"), "mail.send");

        seen.add(new Lane("queue-0", "shop"), "report.build");

        assertThat(seen.laneCount()).isEqualTo(LaneHandlers.MAX_LANES);
    }

    @Test
    void keeps_a_bounded_number_of_handlers_that_this_node_does_not_have() {
        for (int i = 0; i < 1_000; i++) seen.add(MAIL, "foreign-" + i);
        seen.add(MAIL, "mail.send");

        assertThat(seen.handlersOf(MAIL)).hasSize(LaneHandlers.MAX_UNKNOWN + 1).contains("mail.send");
        seen.remove(MAIL, "foreign-0");
        seen.add(MAIL, "foreign-999");
        assertThat(seen.handlersOf(MAIL)).contains("foreign-999").doesNotContain("foreign-0");
    }

    @Test
    void a_lane_whose_handlers_were_all_removed_is_forgotten() {
        seen.add(MAIL, "foreign");

        seen.remove(MAIL, "foreign");

        assertThat(seen.handlersOf(MAIL)).isEmpty();
        assertThat(seen.laneCount()).isZero();
    }
}
