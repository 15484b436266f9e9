package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.testkit.NodeProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class NodeProcessTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    /** Counts until it is ended. */
    static final class Counting {
        public static void main(String[] arguments) throws Exception {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye " + arguments[0])));
            System.out.println("hello " + arguments[0] + " " + System.getProperty("colour"));
            for (int i = 0; ; i++) {
                System.out.println("tick " + i);
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    /** Starts another node and does nothing more. */
    static final class Parent {
        public static void main(String[] arguments) throws Exception {
            try (NodeProcess child = NodeProcess.start(Counting.class, "child")) {
                child.awaitLine("hello", SOON);
                System.out.println("child " + child.pid());
                TimeUnit.HOURS.sleep(1);
            }
        }
    }

    /** Fails when it is given nothing. */
    static final class Failing {
        public static void main(String[] arguments) {
            if (arguments.length == 0) throw new IllegalStateException("no configuration");
        }
    }

    @Test
    void speaks_in_lines_and_ends_in_order() {
        NodeProcess node = NodeProcess.start(List.of("-Dcolour=blue"), Counting.class, "ann");

        assertThat(node.awaitLine("hello", SOON)).isEqualTo("hello ann blue");
        assertThat(node.awaitLine("tick", SOON)).isEqualTo("tick 0");
        assertThat(node.awaitLine("tick", SOON)).isEqualTo("tick 1");
        node.close();

        assertThat(node.alive()).isFalse();
        assertThat(node.awaitLine("bye", SOON)).isEqualTo("bye ann");
    }

    @Test
    void dies_without_a_word_when_it_is_killed() {
        try (NodeProcess node = NodeProcess.start(Counting.class, "bob")) {
            node.awaitLine("tick", SOON);

            node.kill9();

            assertThat(node.alive()).isFalse();
            assertThatThrownBy(() -> node.awaitLine("bye", SOON))
                    .hasMessageContaining("printed no line beginning with 'bye' before it ended");
        }
    }

    @Test
    void freezes_and_goes_on() {
        try (NodeProcess node = NodeProcess.start(Counting.class, "eve")) {
            node.awaitLine("tick", SOON);

            node.stop();
            Awaitility.await().until(() -> quiet(node));
            int frozen = node.lines().size();
            assertThat(node.alive()).isTrue();
            node.cont();

            Awaitility.await().until(() -> node.lines().size() > frozen + 3);
        }
    }

    /** Whether nothing came for a time in which a running node prints twenty lines. */
    private static boolean quiet(NodeProcess node) {
        int before = node.lines().size();
        return Awaitility.await()
                .pollDelay(Duration.ofMillis(200))
                .until(() -> node.lines().size(), size -> true)
                .equals(before);
    }

    @Test
    void ends_with_its_parent_even_if_that_is_killed() {
        try (NodeProcess parent = NodeProcess.start(Parent.class)) {
            long child = Long.parseLong(parent.awaitLine("child ", SOON).substring("child ".length()));
            assertThat(ProcessHandle.of(child)).isPresent();

            parent.kill9();

            Awaitility.await().atMost(SOON).until(() -> ended(child));
        }
    }

    private static boolean ended(long pid) {
        return ProcessHandle.of(pid).map(handle -> !handle.isAlive()).orElse(true);
    }

    @Test
    void shows_what_it_printed_when_an_event_does_not_come() {
        try (NodeProcess node = NodeProcess.start(Failing.class)) {
            assertThatThrownBy(() -> node.awaitLine("ready", SOON))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("no configuration");
        }
    }
}
