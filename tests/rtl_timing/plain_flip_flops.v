// A reset that is not synchronous is not on a path between registers.
module \$_DFF_PN0_ (input D, C, R, output Q);
  \$_DFF_P_ _TECHMAP_REPLACE_ (.D(D), .C(C), .Q(Q));
endmodule
module \$_DFF_PN1_ (input D, C, R, output Q);
  \$_DFF_P_ _TECHMAP_REPLACE_ (.D(D), .C(C), .Q(Q));
endmodule
