package io.carillon.embedded.internal.datadir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PostmasterFileTest {
    @Test
    void a_pid_file_is_read_whole_or_not_at_all() {
        List<String> whole = List.of("42", "/data", "1700000000", "5433", "", "127.0.0.1", "123 4", "ready   ");
        assertThat(PostmasterFile.parse(whole)).contains(new PostmasterFile(42, 5433, true));
        assertThat(PostmasterFile.parse(whole.subList(0, 7))).contains(new PostmasterFile(42, 5433, false));
        assertThat(PostmasterFile.parse(whole.subList(0, 1))).contains(new PostmasterFile(42, 0, false));
        assertThat(PostmasterFile.parse(List.of("-42")))
                .map(PostmasterFile::pid)
                .contains(42L);
        assertThat(PostmasterFile.parse(List.of())).isEqualTo(Optional.empty());
        assertThat(PostmasterFile.parse(List.of("4x"))).isEqualTo(Optional.empty());
    }
}
