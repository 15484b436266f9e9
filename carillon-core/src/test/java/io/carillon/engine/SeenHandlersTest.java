package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.engine.Claims.SeenHandlers;
import io.carillon.run.Lane;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SeenHandlersTest {
    private static final Lane MAIL = new Lane("mail", "shop");

    private final SeenHandlers seen = new SeenHandlers(Set.of("mail.send"));

    @Test
    void keeps_a_bounded_number_of_lanes_and_still_knows_the_latest() {
        for (int i = 0; i < 3 * SeenHandlers.MOST_LANES; i++) {
            Lane lane = new Lane("queue-" + i, "shop");
            seen.add(lane, "mail.send");

            assertThat(seen.in(lane)).containsExactly("mail.send");
            if (seen.lanes() > SeenHandlers.MOST_LANES)
                assertThat(seen.lanes()).as("lanes").isLessThanOrEqualTo(SeenHandlers.MOST_LANES);
        }
        assertThat(seen.lanes()).isPositive();
    }

    @Test
    void a_known_lane_makes_none_of_the_others_forgotten() {
        for (int i = 0; i < SeenHandlers.MOST_LANES; i++) seen.add(new Lane("queue-" + i, "shop"), "mail.send");

        seen.add(new Lane("queue-0", "shop"), "report.build");

        assertThat(seen.lanes()).isEqualTo(SeenHandlers.MOST_LANES);
    }

    @Test
    void keeps_a_bounded_number_of_handlers_that_this_node_does_not_have() {
        for (int i = 0; i < 1_000; i++) seen.add(MAIL, "foreign-" + i);
        seen.add(MAIL, "mail.send");

        assertThat(seen.in(MAIL)).hasSize(SeenHandlers.MOST_UNKNOWN + 1).contains("mail.send");
        seen.remove(MAIL, "foreign-0");
        seen.add(MAIL, "foreign-999");
        assertThat(seen.in(MAIL)).contains("foreign-999").doesNotContain("foreign-0");
    }

    @Test
    void a_lane_of_which_all_was_passed_on_takes_no_place() {
        seen.add(MAIL, "foreign");

        seen.remove(MAIL, "foreign");

        assertThat(seen.in(MAIL)).isEmpty();
        assertThat(seen.lanes()).isZero();
    }
}
