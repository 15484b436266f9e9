package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShellTest {
    private final StringWriter err = new StringWriter();

    private Shell shell(PrintWriter out) {
        return new Shell(out, new PrintWriter(err), Map.of(), () -> Instant.EPOCH);
    }

    @Test
    void every_way_to_print_is_escaped_except_tabs_and_line_ends() {
        StringWriter out = new StringWriter();
        PrintWriter writer = shell(new PrintWriter(out)).out();

        writer.print('\u001b');
        writer.print(new char[] {'a', '\u009b'});
        writer.append("\u202e").printf("%s", "\r");
        writer.write("\u0007", 0, 1);
        writer.print("\tb\n");
        writer.flush();

        assertThat(out).hasToString("\\u001ba\\u009b\\u202e\\r\\u0007\tb\n");
    }

    @Test
    void a_line_can_be_replaced_but_not_by_its_text() {
        shell(new PrintWriter(err)).replaceLine("1 run\rchanged");

        assertThat(err).hasToString("\r\u001b[K1 run\\rchanged");
    }

    @Test
    void an_error_of_the_output_is_reported() {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        Shell shell = shell(new PrintWriter(closed, true, StandardCharsets.UTF_8));

        shell.out().println("text");

        assertThat(shell.out().checkError()).isTrue();
    }
}
