package io.carillon.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.value.TextCleaner;
import io.carillon.run.HostileErrors;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ErrorTextTest {
    @Test
    void starts_with_the_error_followed_by_stack_and_causes() {
        String text = ErrorText.of(new IllegalStateException("books closed", new IOException("disk full")));

        assertThat(ErrorText.firstLine(text)).isEqualTo("java.lang.IllegalStateException: books closed");
        assertThat(text)
                .contains("at io.carillon.internal.run.ErrorTextTest")
                .contains("Caused by: java.io.IOException: disk full");
    }

    @Test
    void keeps_the_innermost_cause_of_long_stacks() {
        Throwable error = new IOException("disk full");
        for (int i = 0; i < 4; i++) {
            error = new IllegalStateException("layer " + i + " " + "x".repeat(5_000), error);
            StackTraceElement[] frames = new StackTraceElement[400];
            Arrays.fill(frames, new StackTraceElement("org.framework.Proxy", "invoke", "Proxy.java", 42));
            error.setStackTrace(frames);
        }

        String text = ErrorText.of(error);

        assertThat(ErrorText.firstLine(text)).startsWith("java.lang.IllegalStateException: layer 3");
        assertThat(text)
                .contains("at org.framework.Proxy.invoke(Proxy.java:42)")
                .contains("... 388 more")
                .contains("Caused by: java.io.IOException: disk full\n\tat io.carillon.internal.run.ErrorTextTest");
    }

    @Test
    void is_clean_and_bounded_and_names_the_class_of_a_hostile_error() {
        for (Throwable error : HostileErrors.all()) {
            String name = error.getClass().getName();

            String text = ErrorText.of(error);

            assertThat(TextCleaner.isClean(text)).as(name).isTrue();
            assertThat(text).as(name).hasSizeBetween(1, 8 * 1024);
            if (!name.endsWith("NullToString")) assertThat(text).contains(name);
        }
    }

    @Test
    void has_a_first_line_for_a_single_line_and_for_empty_text() {
        assertThat(ErrorText.firstLine("one")).isEqualTo("one");
        assertThat(ErrorText.firstLine("one\r\ntwo")).isEqualTo("one");
        assertThat(ErrorText.firstLine("")).isEmpty();
        assertThat(ErrorText.firstLine("\nrest")).isEmpty();
    }
}
