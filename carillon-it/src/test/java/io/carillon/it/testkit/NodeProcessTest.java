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

    /** Prints numbers until it is stopped. */
    static final class CountingNode {
        public static void main(String[] arguments) throws Exception {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye " + arguments[0])));
            System.out.println("hello " + arguments[0] + " " + System.getProperty("colour"));
            for (int i = 0; ; i++) {
                System.out.println("count " + i);
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    /** Starts another node and waits. */
    static final class ParentNode {
        public static void main(String[] arguments) throws Exception {
            try (NodeProcess child = NodeProcess.start(CountingNode.class, "child")) {
                child.awaitLine("hello", SOON);
                System.out.println("child " + child.pid());
                TimeUnit.HOURS.sleep(1);
            }
        }
    }

    /** Fails if it has no arguments. */
    static final class FailingNode {
        public static void main(String[] arguments) {
            if (arguments.length == 0) throw new IllegalStateException("no configuration");
        }
    }

    @Test
    void prints_lines_and_stops_cleanly() {
        NodeProcess node = NodeProcess.start(List.of("-Dcolour=blue"), CountingNode.class, "ann");

        assertThat(node.awaitLine("hello", SOON)).isEqualTo("hello ann blue");
        assertThat(node.awaitLine("count", SOON)).isEqualTo("count 0");
        assertThat(node.awaitLine("count", SOON)).isEqualTo("count 1");
        node.close();

        assertThat(node.isAlive()).isFalse();
        assertThat(node.awaitLine("bye", SOON)).isEqualTo("bye ann");
    }

    @Test
    void ends_without_output_when_it_is_killed() {
        try (NodeProcess node = NodeProcess.start(CountingNode.class, "bob")) {
            node.awaitLine("count", SOON);

            node.kill();

            assertThat(node.isAlive()).isFalse();
            assertThatThrownBy(() -> node.awaitLine("bye", SOON))
                    .hasMessageContaining("printed no line that starts with 'bye' before it ended");
        }
    }

    @Test
    void freezes_and_resumes() {
        try (NodeProcess node = NodeProcess.start(CountingNode.class, "eve")) {
            node.awaitLine("count", SOON);

            node.freeze();
            Awaitility.await().until(() -> printsNothing(node));
            int frozen = node.lines().size();
            assertThat(node.isAlive()).isTrue();
            node.resume();

            Awaitility.await().until(() -> node.lines().size() > frozen + 3);
        }
    }

    /** Returns whether the node prints nothing for 200 ms, in which a running node prints about twenty lines. */
    private static boolean printsNothing(NodeProcess node) {
        int before = node.lines().size();
        return Awaitility.await()
                .pollDelay(Duration.ofMillis(200))
                .until(() -> node.lines().size(), size -> true)
                .equals(before);
    }

    @Test
    void ends_when_its_parent_is_killed() {
        try (NodeProcess parent = NodeProcess.start(ParentNode.class)) {
            long child = Long.parseLong(parent.awaitLine("child ", SOON).substring("child ".length()));
            assertThat(ProcessHandle.of(child)).isPresent();

            parent.kill();

            Awaitility.await().atMost(SOON).until(() -> ended(child));
        }
    }

    private static boolean ended(long pid) {
        return ProcessHandle.of(pid).map(handle -> !handle.isAlive()).orElse(true);
    }

    @Test
    void the_error_for_a_missing_line_contains_the_output() {
        try (NodeProcess node = NodeProcess.start(FailingNode.class)) {
            assertThatThrownBy(() -> node.awaitLine("ready", SOON))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("no configuration");
        }
    }
}
