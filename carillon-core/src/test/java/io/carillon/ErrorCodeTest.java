package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

class ErrorCodeTest {
    @Test
    @ResourceLock(Resources.LOCALE)
    void has_a_text_that_no_locale_changes() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("tr-TR"));

            assertThat(ErrorCode.INVALID_OPTION.text()).isEqualTo("invalid-option");
            assertThat(Arrays.stream(ErrorCode.values()).map(ErrorCode::text))
                    .doesNotHaveDuplicates()
                    .allMatch(text -> text.matches("[a-z]+(-[a-z]+)*"));
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void stays_with_its_exception() {
        CarillonException failure = new CarillonException(ErrorCode.STORAGE, "what", new IllegalStateException("why"));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORAGE);
        assertThat(failure).hasMessage("what").hasCauseInstanceOf(IllegalStateException.class);
    }
}
