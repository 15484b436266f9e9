package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code carillon stats} against a running server. */
class StatsCommandTest {
    private static final String TIMES = "(-|\\d+ m?s / \\d+(\\.\\d)? m?s)";

    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    private static String stats(String... options) {
        String[] words = new String[options.length + 1];
        words[0] = "stats";
        System.arraycopy(options, 0, words, 1, options.length);
        RemoteServer.CommandResult result = SERVER.run(words);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result.out();
    }

    @Tag("slow")
    @Test
    void shows_rates_that_are_not_rounded_to_zero_and_durations_with_their_unit() {
        SERVER.run("run", "enqueue", "fine");
        SERVER.run("run", "enqueue", "broken");
        // A process writes its counts every five seconds.
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(stats()).containsPattern("\ntotal +2 +"));

        assertThat(stats())
                .startsWith("NAME ")
                .containsPattern("RATE +DEAD +RETRIED +MISSED +FAILURE RATE +WAIT P50/P95 +RUN P50/P95\n")
                .containsPattern("total +2 +(2|1\\.\\d+)/h +1 +1 +0 +50 % +" + TIMES + " +" + TIMES + "\n");
        assertThat(stats("--by", "queue"))
                .containsPattern("\nfine +1 +(1|0\\.\\d+)/h +0 ")
                .containsPattern("\nbroken +1 +(1|0\\.\\d+)/h +1 +1 +0 +100 % ");
        assertThat(stats("--by", "outcome")).containsPattern("\nsucceeded +1 +(1|0\\.\\d+)/h ");
        assertThat(stats("--step", "30m").lines()).hasSizeGreaterThan(3);
    }
}
