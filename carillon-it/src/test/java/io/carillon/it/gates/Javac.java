package io.carillon.it.gates;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.JavaFileObject.Kind;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** Compiles sources held as text, in this JVM, into a folder. */
final class Javac {

    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|record|enum)\\s+(\\w+)");

    private Javac() {}

    /** What javac said. */
    record Result(boolean compiled, List<String> messages) {}

    static Result compile(Path into, List<String> flags, String... sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var diagnostics = new DiagnosticCollector<JavaFileObject>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(diagnostics, Locale.ROOT, null)) {
            files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(into));
            List<String> options = new ArrayList<>(flags);
            options.addAll(List.of("-classpath", classPath(), "-processorpath", classPath()));
            List<Source> units = Stream.of(sources).map(Source::of).toList();
            boolean compiled = compiler.getTask(null, files, diagnostics, options, null, units)
                    .call();
            List<String> messages = diagnostics.getDiagnostics().stream()
                    .map(each -> each.getKind() + ": " + each.getMessage(Locale.ROOT))
                    .toList();
            return new Result(compiled, messages);
        }
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        private Source(String path, String text) {
            super(URI.create("sample:///" + path), Kind.SOURCE);
            this.text = text;
        }

        /** The file name follows from the text: its package and its first type, or package-info when it has none. */
        static Source of(String text) {
            Matcher room = PACKAGE.matcher(text);
            if (!room.find()) {
                throw new IllegalArgumentException("A sample needs a package: " + text);
            }
            Matcher type = TYPE.matcher(text);
            String name = type.find(room.end()) ? type.group(1) : "package-info";
            return new Source(room.group(1).replace('.', '/') + "/" + name + ".java", text);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
